"""Where the tensors of a file are: each a view of a storage, the storages' positions, and the rest of the file.

`Found` has the contents of a file in terms common to all of PyTorch's formats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from inspector.formats import zips
from inspector.formats.dtypes import DTYPES
from inspector.formats.findings import Findings
from inspector.formats.regions import partition, unions
from inspector.formats.zips import Read
from inspector.model import Piece, Region, Tensor
from inspector.units import plural

#: Class of a storage → dtype, by safetensors' name if it has one, and bytes of an element.
STORAGES: dict[str, tuple[str, int]] = {
    "DoubleStorage": ("F64", 8),
    "FloatStorage": ("F32", 4),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "ShortStorage": ("I16", 2),
    "CharStorage": ("I8", 1),
    "ByteStorage": ("U8", 1),
    "BoolStorage": ("BOOL", 1),
    "ComplexFloatStorage": ("C64", 8),
    "ComplexDoubleStorage": ("C128", 16),
    "QInt8Storage": ("QI8", 1),
    "QUInt8Storage": ("QU8", 1),
    "QInt32Storage": ("QI32", 4),
    "QUInt4x2Storage": ("QU4", 1),
    "QUInt2x4Storage": ("QU2", 1),
    "UntypedStorage": ("U8", 1),
    "_UntypedStorage": ("U8", 1),
}
#: `ScalarType` in the JSON of an exported program (`torch/_export/serde/schema.py`): consecutive ones from a number on.
_SCALAR_TYPES = {
    1: "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool bfloat16",
    28: "uint16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu uint32 uint64",
}
SCALAR_TYPES: Mapping[int, tuple[str, int]] = {
    number: DTYPES[name] for first, names in _SCALAR_TYPES.items() for number, name in enumerate(names.split(), first)
}


class View(NamedTuple):
    """One tensor: which elements of which storage."""

    name: str  # the path to it: "layers.0.weight"
    dtype: str
    width: int  # bytes of an element; for `F4` and the like, of a byte with several
    shape: tuple[int, ...]
    stride: tuple[int, ...]  # in elements
    offset: int  # of the first element, in elements
    storage: str | None  # its key; None for a tensor without data
    length: int  # elements of the storage, as the pickle says
    piece: Piece | None = None  # of a tensor that is spread over several files

    @property
    def extent(self) -> int:
        """Elements from the first to the last that it touches, inclusive."""
        if 0 in self.shape:
            return 0
        return 1 + sum((dim - 1) * step for dim, step in zip(self.shape, self.stride, strict=True))

    @property
    def contiguous(self) -> bool:
        """Whether its elements are contiguous and in order."""
        expected = 1
        for dim, step in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if dim != 1 and step != expected and 0 not in self.shape:
                return False
            expected *= dim
        return True


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

    #: Of ZIP: start, bytes of header and name, start and end of the data.
    members: Sequence[tuple[int, int, int, int]] = ()
    pickles: Sequence[tuple[int, int]] = ()  # start and end
    end: int | None = None  # where the contents end; None if this is unknown

    def moved(self, by: int) -> Frame:
        """The same, shifted by an offset."""
        members = [(header + by, named, start + by, end + by) for header, named, start, end in self.members]
        end = None if self.end is None else self.end + by
        return Frame(members, [(start + by, end + by) for start, end in self.pickles], end)


class Found(NamedTuple):
    """The tensors of a file, the positions of their storages, and what else the pickle holds."""

    views: tuple[View, ...]
    storages: Mapping[str, Storage]
    frame: Frame
    value: Any = None  # what the pickle leaves
    malformed: tuple[str, ...] = ()  # names of tensors whose description is invalid
    opaque: tuple[str, ...] = ()  # classes of objects that are searched for tensors
    complete: bool = True  # whether all values were visited


def within(found: Found, prefix: str, name: str) -> Found:
    """The same for a part of a file: keys of storages and names of tensors get a prefix."""
    return found._replace(
        views=tuple(
            each._replace(
                name=".".join(filter(None, (name, each.name))),
                storage=None if each.storage is None else prefix + each.storage,
            )
            for each in found.views
        ),
        storages={prefix + key: each for key, each in found.storages.items()},
    )


def together(parts: Iterable[Found], frame: Frame, value: Any = None) -> Found:
    """The contents of all parts of one file, in the frame that encloses them."""
    parts = tuple(parts)
    frame = Frame(
        [*frame.members, *(member for each in parts for member in each.frame.members)],
        [*frame.pickles, *(pickle for each in parts for pickle in each.frame.pickles)],
        frame.end,
    )
    return Found(
        tuple(view for each in parts for view in each.views),
        {key: storage for each in parts for key, storage in each.storages.items()},
        frame,
        value,
        tuple(name for each in parts for name in each.malformed),
        tuple(dict.fromkeys(path for each in parts for path in each.opaque)),
        all(each.complete for each in parts),
    )


def frame_of(read: Read, members: Sequence[zips.Member], end: int | None = None) -> Frame:
    """The position of each member: computed from PyTorch's alignment, or read if that does not fit."""
    ordered = sorted(members, key=attrgetter("header"))
    found: list[tuple[int, int, int, int]] = []
    for number, each in enumerate(ordered):
        following = ordered[number + 1].header if number + 1 < len(ordered) else None
        start = _expected_start(each, following)
        if start is None:
            try:
                start = zips.data_start(read, each)
            except zips.ZipError:
                continue
        named = _LOCAL_HEADER + len(each.name.encode()) + 4
        found.append((each.header, named, start, start + each.compressed))
    return Frame(found, end=end)


def _expected_start(member: zips.Member, following: int | None) -> int | None:
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


def in_a_row(keys: Iterable[str], sizes: Mapping[str, int], at: int) -> dict[str, Storage]:
    """Key → storage of a file of pickles: the 8 bytes before each give its number of elements.

    Args:
        sizes: bytes of each storage, from the class and elements in the pickle.
    """
    found: dict[str, Storage] = {}
    for key in keys:
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
    ranges = [_range_in_file(view, storages, findings) for view in kept]
    own = _own_bytes(kept, ranges)
    tensors = [
        Tensor(view.name, view.dtype, view.shape, start, own[number])
        for number, (view, (start, _)) in enumerate(zip(kept, ranges, strict=True))
    ]
    return tensors, kept, shared, unions(each for each in ranges if each[0] < each[1])


def _range_in_file(view: View, storages: Mapping[str, Storage], findings: Findings) -> tuple[int, int]:
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
    if frame.end is not None:
        findings.check_end(frame.end, size)
        marks.append((frame.end, size, "trailing"))
    unused = 0
    for storage in storages.values():
        if storage.readable:
            for start, end in _gaps_in(storage.start, storage.start + storage.size, claimed):
                marks.append((start, end, "hole"))
                unused += end - start
    if unused:
        what = f"{plural(unused, 'byte')} of storages that no tensor uses: a view was saved with its whole storage"
        findings.add("view", "info", what)
    return tuple(partition(marks, size, "archive" if frame.members else "header"))


def _gaps_in(start: int, end: int, claimed: list[tuple[int, int]]) -> Iterable[tuple[int, int]]:
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
