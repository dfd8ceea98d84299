"""Folders that `torch.distributed.checkpoint` writes: `.metadata`, and a `.distcp` file from each rank.

`.metadata` is a pickle with each tensor's shape and chunks, and each chunk's file, offset and bytes. At that position
is the chunk as `torch.save` writes it: an archive with one tensor. FSDP's sharded state has the same form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from inspector.errors import FormatError
from inspector.formats.dtypes import DTYPES
from inspector.formats.findings import Findings
from inspector.formats.pytorch import archive, layout
from inspector.formats.pytorch.archive import MAX_OPCODES, check
from inspector.formats.pytorch.layout import Found, View, together, within
from inspector.formats.pytorch.machine import Budget, Stream
from inspector.formats.pytorch.program import run
from inspector.formats.pytorch.reader import facts, header_of
from inspector.formats.pytorch.tensors import sizes_of
from inspector.formats.pytorch.values import Dictionary, Global, attribute, is_count
from inspector.formats.training import is_state
from inspector.formats.zips import Read
from inspector.model import Finding, Header, Piece
from inspector.sources import Source
from inspector.units import escape

#: Bytes of `.metadata`: a tensor in 1,000 chunks takes some 150 kB.
MAX_METADATA = 256 * 1024 * 1024


class Item(NamedTuple):
    """One item of one file: a chunk of a tensor, or an object."""

    name: str
    offset: int  # in the file
    length: int
    dtype: tuple[str, int] | None = None  # with its width in bytes; None for an object
    shape: tuple[int, ...] = ()  # of the chunk
    piece: Piece | None = None  # its position in a tensor of several chunks


class Described(NamedTuple):
    """What `.metadata` says."""

    items: Mapping[str, Sequence[Item]]  # file → its items, in order
    facts: Mapping[str, object]
    findings: tuple[Finding, ...] = ()


def described(raw: bytes, path: str) -> Described:
    """Read a `.metadata` file. Raises FormatError if it is not one."""
    program = run(Stream.of(raw), Budget(MAX_OPCODES))
    check(program, path)
    tensors, places = attribute(program.value, "state_dict_metadata"), attribute(program.value, "storage_data")
    if not isinstance(tensors, Dictionary) or not isinstance(places, Dictionary):
        raise FormatError(f"{escape(path)} is not metadata of torch.distributed.checkpoint", "unreadable-file")
    known = {name: each for name, each in tensors.pairs if isinstance(name, str)}
    chunks = {name: _shapes_of_chunks(each) for name, each in known.items()}
    items: dict[str, list[Item]] = {}
    seen: set[tuple[str, int]] = set()
    for index, place in places.pairs:
        name, file = attribute(index, "fqn"), attribute(place, "relative_path")
        offset, length = attribute(place, "offset") or 0, attribute(place, "length")
        if not isinstance(name, str) or not isinstance(file, str) or not (is_count(offset) and is_count(length)):
            raise FormatError(f"{escape(path)}: its list has an invalid location", "unreadable-file")
        if (file, offset) in seen:  # nothing is written on top of something else
            continue
        seen.add((file, offset))
        start = sizes_of(attribute(index, "offset"))
        items.setdefault(file, []).append(_item_of(name, offset, length, start, known.get(name), chunks.get(name, {})))
    paths = attribute(program.value, "planner_data")
    findings = Findings(path)
    findings.check_end(program.end, len(raw))
    return Described(_without_prefix(items, paths), facts(program.value), findings.all())


def _shapes_of_chunks(metadata: Any) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Start of each chunk in a tensor → the chunk's shape."""
    listed = attribute(metadata, "chunks")
    found = {}
    for each in listed if isinstance(listed, list) else ():
        start, shape = sizes_of(attribute(each, "offsets")), sizes_of(attribute(each, "sizes"))
        if start is not None and shape is not None:
            found[start] = shape
    return found


def _item_of(
    name: str,
    offset: int,
    length: int,
    start: tuple[int, ...] | None,
    metadata: Any,
    chunks: Mapping[tuple[int, ...], tuple[int, ...]],
) -> Item:
    whole, dtype = sizes_of(attribute(metadata, "size")), _dtype_of(attribute(metadata, "properties"))
    if whole is None or dtype is None:
        return Item(name, offset, length)
    if start is None or start not in chunks:  # a tensor in one piece
        return Item(name, offset, length, dtype, whole)
    piece = Piece(start, whole) if chunks[start] != whole else None
    return Item(name, offset, length, dtype, chunks[start], piece)


def _dtype_of(properties: Any) -> tuple[str, int] | None:
    """The dtype, which comes first if the properties are a tuple."""
    state = properties.state if hasattr(properties, "state") else None
    found = state[0] if isinstance(state, tuple) and state else attribute(properties, "dtype")
    return DTYPES.get(found.name) if isinstance(found, Global) else None


def _without_prefix(items: Mapping[str, list[Item]], paths: Any) -> dict[str, list[Item]]:
    """The weights under their own names, if they were saved under a key next to others."""
    pairs = paths.pairs if isinstance(paths, Dictionary) else []
    found = {name: each for name, each in pairs if isinstance(name, str)}
    names = {each.name for those in items.values() for each in those if each.dtype is not None}
    start = _key_above_weights(names, found)
    return {
        file: sorted(
            (each._replace(name=each.name.removeprefix(start)) for each in those), key=lambda each: each.offset
        )
        for file, those in items.items()
    }


def _key_above_weights(names: set[str], paths: Mapping[str, Any]) -> str:
    """The keys above the weights: the common prefix of all names that are not training state."""
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
    """One rank's file, whose items and their positions `.metadata` lists, in order.

    Raises:
        SourceError: the bytes cannot be read.
    """
    findings = Findings(path)
    source.prefix(1)  # fetches all of a small HTTP file, which a range request could not
    parts = [_contents_of_item(source, path, item, number, findings) for number, item in enumerate(items)]
    end = max((item.offset + item.length for item in items), default=None)
    found = together(parts, layout.Frame(end=end))
    return header_of(found, path, source.size, findings, dict(facts))


def _contents_of_item(source: Source, path: str, item: Item, number: int, findings: Findings) -> Found:
    """One item: a tensor in an archive, or bytes."""
    length = max(0, min(item.length, source.size - item.offset))
    if item.dtype is None:
        return Found((), {}, layout.Frame(pickles=[(item.offset, item.offset + length)]))
    dtype, width = item.dtype
    stride = _row_major_strides(item.shape)
    view = View(item.name, dtype, width, item.shape, stride, 0, str(number), 0, item.piece)
    try:
        inner = archive.part(_reads_near(source, item.offset, length), item.offset, length, path, Findings(path))
    except FormatError:
        inner = Found((), {}, layout.Frame())
    if not inner.views and item.offset + item.length > source.size:  # the cut is reported once, not for each tensor
        cut = {str(number): layout.Storage(item.offset, prod(item.shape) * width)}
        return within(Found((view,), cut, layout.Frame()), "", "")
    stored = [each for each in inner.views if each.shape == item.shape and each.dtype == dtype]
    if len(stored) != 1:
        findings.add("storage", "error", ".metadata puts this tensor where there is no archive of it", item.name)
        return within(Found((view._replace(storage=None),), {}, layout.Frame()), "", "")
    own = stored[0]._replace(name=item.name, piece=item.piece)
    return within(inner._replace(views=(own,)), f"{number}/", "")


#: Bytes read at once at the start and the end of an item: all of its archive except the tensor.
_AROUND = 8192


def _reads_near(source: Source, start: int, length: int) -> Read:
    """Reads by file offset; those near an item's two ends are served from two cached reads."""
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


def _row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    step = 1
    for size in reversed(shape):
        found.append(step)
        step *= size
    return tuple(reversed(found))
