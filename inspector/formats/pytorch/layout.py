"""The position of each storage in a file, the bytes of it that tensors use, and the rest of the file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch.views import View
from inspector.formats.zips import Read
from inspector.model import Region, Tensor
from inspector.units import plural

#: The alignment of records by PyTorch's writer (`caffe2/serialize/inline_container.cc`, kFieldAlignment).
ALIGNMENT = 64
_LOCAL_HEADER = 30
#: Lengths of a member's data descriptor, with and without its signature and ZIP64's wide sizes.
_DESCRIPTORS = (0, 12, 16, 20, 24)


class Storage(NamedTuple):
    """The bytes of one storage in the file."""

    start: int
    size: int
    readable: bool = True  # False if they are compressed: the plain bytes are not in the file


class Frame(NamedTuple):
    """The parts of a file that are neither tensors nor padding."""

    members: Sequence[
        tuple[int, int, int, int]
    ] = ()  # of ZIP: start, bytes of header and name, start and end of the data
    pickles: Sequence[tuple[int, int]] = ()  # start and end

    def moved(self, by: int) -> Frame:
        """The same, shifted by an offset."""
        members = [(header + by, named, start + by, end + by) for header, named, start, end in self.members]
        return Frame(members, [(start + by, end + by) for start, end in self.pickles])


def frame_of(read: Read, members: Sequence[zips.Member]) -> Frame:
    """The position of each member: computed from PyTorch's alignment, or read if that does not fit."""
    ordered = sorted(members, key=attrgetter("header"))
    found: list[tuple[int, int, int, int]] = []
    for number, each in enumerate(ordered):
        following = ordered[number + 1].header if number + 1 < len(ordered) else None
        start = _reckoned(each, following)
        if start is None:
            try:
                start = zips.data_start(read, each)
            except zips.ZipError:
                continue
        named = _LOCAL_HEADER + len(each.name.encode()) + 4
        found.append((each.header, named, start, start + each.compressed))
    return Frame(found)


def _reckoned(member: zips.Member, following: int | None) -> int | None:
    """Where PyTorch's writer puts a member's bytes; None if that leaves no room for the next header."""
    least = member.header + _LOCAL_HEADER + len(member.name.encode()) + 4
    start = -(-least // ALIGNMENT) * ALIGNMENT
    if following is None or following - start - member.compressed not in _DESCRIPTORS:
        return None
    return start


def of_members(
    members: Sequence[zips.Member], where: str, frame: Frame, size: int, findings: Findings
) -> dict[str, Storage]:
    """Key → storage, for the members `WHERE/KEY`."""
    places = {header: (start, end) for header, _, start, end in frame.members}
    found: dict[str, Storage] = {}
    for member in members:
        folder, _, key = member.name.rpartition("/")
        if folder != where or member.header not in places:
            continue
        start, end = places[member.header]
        stored = member.method == zips.STORED
        if not stored:
            findings.add("pickled-object", "info", "a compressed storage: PyTorch's writer never compresses them", None)
        found[key] = Storage(start, end - start if stored else member.size, stored)
        if end > size:
            findings.add("truncated", "error", f"{plural(end - size, 'byte')} of a storage beyond the end")
    return found


def in_a_row(size: int, keys: Iterable[str], sizes: Mapping[str, int], at: int) -> dict[str, Storage]:
    """Key → storage of a file of pickles: the 8 bytes before each give its number of elements.

    Args:
        sizes: bytes of each storage, from the class and elements in the pickle.
    """
    found: dict[str, Storage] = {}
    for key in keys:
        if at + 8 > size:
            break
        length = sizes.get(key, 0)
        found[key] = Storage(at + 8, length)
        at += 8 + length
    return found


def place(
    views: Sequence[View], storages: Mapping[str, Storage], findings: Findings
) -> tuple[list[Tensor], list[View], dict[str, str], list[tuple[int, int]]]:
    """The tensors at their positions in the file with their views, names that share another's bytes, all used ranges.

    Each byte belongs to one tensor: a view entirely inside others has none.
    """
    kept: list[View] = []
    shared: dict[str, str] = {}
    seen: dict[tuple[object, ...], str] = {}
    for view in views:
        identity = (view.storage, view.offset, view.shape, view.stride, view.dtype)
        if view.storage is not None and 0 not in view.shape and identity in seen:
            shared[view.name] = seen[identity]
        else:
            seen.setdefault(identity, view.name)
            kept.append(view)
    ranges = [_range(view, storages, findings) for view in kept]
    own = _own_bytes(kept, ranges)
    tensors = [
        Tensor(view.name, view.dtype, view.shape, start, own[number])
        for number, (view, (start, _)) in enumerate(zip(kept, ranges, strict=True))
    ]
    return tensors, kept, shared, _merged(each for each in ranges if each[0] < each[1])


def _range(view: View, storages: Mapping[str, Storage], findings: Findings) -> tuple[int, int]:
    """The start and end of a tensor in the file, without bytes that are missing."""
    if view.storage is None:
        findings.add("pickled-object", "info", "on the meta device: it has a shape, but no bytes", view.name)
        return 0, 0
    storage = storages.get(view.storage)
    if storage is None:
        findings.add("storage", "error", f"its storage {view.storage!r:.40} is not in the file", view.name)
        return 0, 0
    begin, size = view.offset * view.width, view.extent * view.width
    if begin + size > storage.size:
        what = f"it reaches {plural(begin + size - storage.size, 'byte')} beyond its storage"
        findings.add("storage", "error", what, view.name)
        size = max(0, min(size, storage.size - begin))
    if not view.contiguous:
        what = f"stored with the strides {view.stride}: not in the order of its shape"
        findings.add("view", "info", what, view.name)
    start = storage.start + begin
    return start, start + size if storage.readable else start


def _own_bytes(views: Sequence[View], ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Bytes of each tensor that no earlier or enclosing tensor has."""
    own = [0] * len(views)
    covered = 0
    for number in sorted(range(len(views)), key=lambda at: (ranges[at][0], -ranges[at][1])):
        start, end = ranges[number]
        own[number] = max(0, end - max(start, covered))
        covered = max(covered, end)
    return own


def regions(
    claimed: list[tuple[int, int]], storages: Mapping[str, Storage], frame: Frame, size: int, findings: Findings
) -> tuple[Region, ...]:
    """The file's bytes in order: headers, padding, tensors' ranges, gaps."""
    marks: list[tuple[int, int, str]] = []
    for header, named, start, _ in frame.members:
        marks.append((min(header + named, start), start, "padding"))
    marks += [(start, end, "pickle") for start, end in frame.pickles]
    marks += [(start, end, "tensors") for start, end in claimed]
    unused = 0
    for storage in storages.values():
        if storage.readable:
            for start, end in _gaps(storage.start, storage.start + storage.size, claimed):
                marks.append((start, end, "hole"))
                unused += end - start
    if unused:
        what = f"{plural(unused, 'byte')} of storages that no tensor uses: a view was saved with its whole storage"
        findings.add("view", "info", what)
    return tuple(_partition(sorted(marks), size, "archive" if frame.members else "header"))


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _gaps(start: int, end: int, claimed: list[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """The parts of a range that are in none of the others, which are sorted."""
    at = max(0, bisect_left(claimed, (start, start)) - 1)
    for begin, finish in claimed[at:]:
        if begin >= end:
            break
        if begin > start:
            yield start, begin
        start = max(start, finish)
    if start < end:
        yield start, end


def _partition(marks: Sequence[tuple[int, int, str]], size: int, rest: str) -> Iterable[Region]:
    """Regions that cover the file; unmarked bytes are labelled `rest`."""
    at = 0
    for start, end, label in marks:
        start, end = max(start, at), min(end, size)
        if end <= start:
            continue
        if start > at:
            yield Region(rest, at, start)
        yield Region(label, start, end)
        at = end
    if at < size:
        yield Region(rest, at, size)
