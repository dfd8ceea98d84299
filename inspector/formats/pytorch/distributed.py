"""Folders that `torch.distributed.checkpoint` writes: `.metadata`, and a `.distcp` file from each rank.

`.metadata` is a pickle that tells of each tensor its shape and chunks, and of each chunk its file, offset and bytes.
There lies what `torch.save` made of the chunk: an archive with one tensor. FSDP's sharded state is written so too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.formats.pytorch import archive, layout
from inspector.formats.pytorch.archive import MAX_OPCODES, check
from inspector.formats.pytorch.contents import facts
from inspector.formats.pytorch.found import Found, together, within
from inspector.formats.pytorch.machine import Budget
from inspector.formats.pytorch.program import run
from inspector.formats.pytorch.reader import header_of
from inspector.formats.pytorch.sharded import attribute
from inspector.formats.pytorch.stream import Stream
from inspector.formats.pytorch.tensors import sizes_of
from inspector.formats.pytorch.values import Dictionary, Global, is_count
from inspector.formats.pytorch.views import DTYPES, View
from inspector.formats.training import is_state
from inspector.formats.zips import Read
from inspector.model import Header, Piece
from inspector.sources import Source
from inspector.units import escape, plural

#: Bytes of `.metadata`: a tensor in 1,000 chunks takes some 150 kB.
MAX_METADATA = 256 * 1024 * 1024


class Item(NamedTuple):
    """What lies in one place of one file: a chunk of a tensor, or an object."""

    name: str
    offset: int  # in the file
    length: int
    dtype: tuple[str, int] | None = None  # with its width in bytes; None for an object
    shape: tuple[int, ...] = ()  # of the chunk
    piece: Piece | None = None  # which part it is of a tensor that has several


class Described(NamedTuple):
    """What `.metadata` says."""

    items: Mapping[str, Sequence[Item]]  # file → what lies in it, in order
    facts: Mapping[str, object]


def described(raw: bytes, path: str) -> Described:
    """Read a `.metadata` file. Raises FormatError where it is none."""
    program = run(Stream.of(raw), Budget(MAX_OPCODES))
    check(program, path)
    tensors, places = attribute(program.value, "state_dict_metadata"), attribute(program.value, "storage_data")
    if not isinstance(tensors, Dictionary) or not isinstance(places, Dictionary):
        raise FormatError(f"{escape(path)} is not metadata of torch.distributed.checkpoint", "unreadable-file")
    known = {name: each for name, each in tensors.pairs if isinstance(name, str)}
    chunks = {name: _chunks(each) for name, each in known.items()}
    items: dict[str, list[Item]] = {}
    seen: set[tuple[str, int]] = set()
    for index, place in places.pairs:
        name, file = attribute(index, "fqn"), attribute(place, "relative_path")
        offset, length = attribute(place, "offset") or 0, attribute(place, "length")
        if not isinstance(name, str) or not isinstance(file, str) or not (is_count(offset) and is_count(length)):
            raise FormatError(f"{escape(path)}: a place of its list is none", "unreadable-file")
        if (file, offset) in seen:  # nothing that is written lies where something else does
            continue
        seen.add((file, offset))
        start = sizes_of(attribute(index, "offset"))
        items.setdefault(file, []).append(_item(name, offset, length, start, known.get(name), chunks.get(name, {})))
    paths = attribute(program.value, "planner_data")
    return Described(_renamed(items, paths), facts(program.value))


def _chunks(metadata: Any) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Where each chunk of a tensor begins → its shape."""
    listed = attribute(metadata, "chunks")
    found = {}
    for each in listed if isinstance(listed, list) else ():
        start, shape = sizes_of(attribute(each, "offsets")), sizes_of(attribute(each, "sizes"))
        if start is not None and shape is not None:
            found[start] = shape
    return found


def _item(
    name: str,
    offset: int,
    length: int,
    start: tuple[int, ...] | None,
    metadata: Any,
    chunks: Mapping[tuple[int, ...], tuple[int, ...]],
) -> Item:
    whole, dtype = sizes_of(attribute(metadata, "size")), _dtype(attribute(metadata, "properties"))
    if whole is None or dtype is None:
        return Item(name, offset, length)
    if start is None or start not in chunks:  # a tensor in one piece
        return Item(name, offset, length, dtype, whole)
    piece = Piece(start, whole) if chunks[start] != whole else None
    return Item(name, offset, length, dtype, chunks[start], piece)


def _dtype(properties: Any) -> tuple[str, int] | None:
    """The type, first of the properties where they are a tuple."""
    state = properties.state if hasattr(properties, "state") else None
    found = state[0] if isinstance(state, tuple) and state else attribute(properties, "dtype")
    return DTYPES.get(found.name) if isinstance(found, Global) else None


def _renamed(items: Mapping[str, list[Item]], paths: Any) -> dict[str, list[Item]]:
    """The weights under their own names, where they were saved under a key beside others."""
    pairs = paths.pairs if isinstance(paths, Dictionary) else []
    found = {name: each for name, each in pairs if isinstance(name, str)}
    names = {each.name for those in items.values() for each in those if each.dtype is not None}
    start = _prefix(names, found)
    return {
        file: sorted(
            (each._replace(name=each.name.removeprefix(start)) for each in those), key=lambda each: each.offset
        )
        for file, those in items.items()
    }


def _prefix(names: set[str], paths: Mapping[str, Any]) -> str:
    """The keys above the weights, which all names that are no training state begin with."""
    weights = [name for name in names if not is_state(name)]
    nested = [paths[name] for name in weights if isinstance(paths.get(name), tuple) and len(paths[name]) > 1]
    firsts = {path[0] if isinstance(path[0], str) else "" for path in nested}
    if not nested or len(firsts) != 1 or len(nested) < len(weights):
        return ""
    first = next(iter(firsts))
    start = f"{first}." if first else ""
    shorter = {name.removeprefix(start) for name in names}
    return start if len(shorter) == len(names) else ""


def read(source: Source, path: str, items: Sequence[Item], facts: Mapping[str, object]) -> Header:
    """One rank's file, of which `.metadata` tells what lies where. Items lie in order.

    Raises:
        SourceError: the bytes cannot be had.
    """
    findings = Findings(path)
    source.prefix(1)  # of a small file behind HTTP all of it, which no range can ask for
    parts = [_part(source, path, item, number, findings) for number, item in enumerate(items)]
    found = together(parts, layout.Frame())
    if items and (end := items[-1].offset + items[-1].length) > source.size:
        what = f"{plural(end - source.size, 'byte')} that .metadata tells of are beyond the end"
        findings.add("truncated", "error", what)
    return header_of(found, path, source.size, findings, dict(facts))


def _part(source: Source, path: str, item: Item, number: int, findings: Findings) -> Found:
    """What lies in one place: a tensor of an archive, or bytes."""
    length = max(0, min(item.length, source.size - item.offset))
    if item.dtype is None:
        return Found((), {}, layout.Frame(pickles=[(item.offset, item.offset + length)]))
    dtype, width = item.dtype
    stride = _strides(item.shape)
    view = View(item.name, dtype, width, item.shape, stride, 0, str(number), 0, item.piece)
    try:
        inner = archive.part(_nearby(source, item.offset, length), item.offset, length, path, Findings(path))
    except FormatError:
        inner = Found((), {}, layout.Frame())
    stored = [each for each in inner.views if each.shape == item.shape and each.dtype == dtype]
    if len(stored) != 1:
        findings.add("storage", "error", "no archive of this tensor is where .metadata says", item.name)
        return within(Found((view._replace(storage=None),), {}, layout.Frame()), "", "")
    own = stored[0]._replace(name=item.name, piece=item.piece)
    return within(inner._replace(views=(own,)), f"{number}/", "")


#: Bytes at the beginning and the end of an item that are read at once: all of its archive but the tensor.
_AROUND = 8192


def _nearby(source: Source, start: int, length: int) -> Read:
    """Reads by places in the file, of which those at an item's ends are served from two that are made once."""
    head = source.read(start, min(length, _AROUND))
    tail_at = max(start, start + length - _AROUND)
    tail = head[tail_at - start :] if length <= _AROUND else source.read(tail_at, start + length - tail_at)

    def read_at(at: int, size: int) -> bytes:
        if start <= at and at + size <= start + len(head):
            return head[at - start : at - start + size]
        if tail_at <= at:
            return tail[at - tail_at : at - tail_at + size]
        size = min(size, source.size - at)
        return source.read(at, size) if size > 0 and at >= 0 else b""

    return read_at


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    step = 1
    for size in reversed(shape):
        found.append(step)
        step *= size
    return tuple(reversed(found))
