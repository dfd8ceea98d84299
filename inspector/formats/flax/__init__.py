"""Flax's files: a tree of parameters in MessagePack (`flax_model.msgpack`). The numbers are skipped unread.

    {"params": {"dense": {"kernel": ext 1: [shape, dtype, bytes]}}}      flax/serialization.py

Arrays of more than a gigabyte are split: {"__msgpack_chunked_array__": true, "shape": {…}, "chunks": {"0": ext 1, …}}.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from inspector.errors import FormatError
from inspector.formats.dtypes import DTYPES
from inspector.formats.findings import Findings
from inspector.formats.regions import around
from inspector.model import Header, Piece, Tensor
from inspector.model.codes import Code
from inspector.sources import Source
from inspector.units import escape

#: The most values of one file, and the deepest nesting.
MAX_VALUES, MAX_DEPTH = 2_000_000, 64
#: Bytes of a key.
MAX_KEY = 4096
_WINDOW = 4096
#: Codes of Flax's extensions: an array, a complex number, a scalar stored as an array.
_ARRAY, _SCALAR = 1, 3


class _DamagedError(ValueError):
    """Not MessagePack, or not as Flax writes it."""


class _Cursor:
    """Reads forwards, a window at a time."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.at = 0
        self._window, self._base = b"", 0

    def take(self, length: int) -> bytes:
        if length > _WINDOW or self.at + length > self._source.size:
            raise _DamagedError("it ends in the middle of a value")
        start = self.at - self._base
        if not 0 <= start <= start + length <= len(self._window):
            self._base, start = self.at, 0
            self._window = self._source.read(self.at, min(_WINDOW, self._source.size - self.at))
        self.at += length
        return self._window[start : start + length]

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "big")

    def skip(self, length: int) -> None:
        if length > self._source.size - self.at:
            raise _DamagedError("it ends in the middle of a value")
        self.at += length


class _Token(NamedTuple):
    """The first bytes of a value: its kind and length."""

    kind: str  # "map", "array", "text", "bytes", "extension", "number", "nothing"
    length: int = 0  # pairs, values or bytes
    code: int = 0  # of an extension
    number: int = 0


def _next_token(cursor: _Cursor) -> _Token:  # noqa: C901, PLR0912  a line for each of MessagePack's kinds
    first = cursor.take(1)[0]
    if first <= 0x7F or first >= 0xE0:
        return _Token("number", number=first if first <= 0x7F else first - 256)
    if first <= 0x8F:
        return _Token("map", first & 15)
    if first <= 0x9F:
        return _Token("array", first & 15)
    if first <= 0xBF:
        return _Token("text", first & 31)
    if first in (0xC0, 0xC2, 0xC3):
        return _Token("nothing", number=int(first == 0xC3))
    if 0xC4 <= first <= 0xC6:
        return _Token("bytes", cursor.number(1 << (first - 0xC4)))
    if 0xC7 <= first <= 0xC9:
        length = cursor.number(1 << (first - 0xC7))
        return _Token("extension", length, cursor.number(1))
    if first in (0xCA, 0xCB):
        cursor.skip(4 if first == 0xCA else 8)
        return _Token("number")
    if 0xCC <= first <= 0xD3:
        width = 1 << ((first - 0xCC) % 4)
        return _Token("number", number=int.from_bytes(cursor.take(width), "big", signed=first >= 0xD0))
    if 0xD4 <= first <= 0xD8:
        return _Token("extension", 1 << (first - 0xD4), cursor.number(1))
    if 0xD9 <= first <= 0xDB:
        return _Token("text", cursor.number(1 << (first - 0xD9)))
    if first in (0xDC, 0xDD):
        return _Token("array", cursor.number(2 if first == 0xDC else 4))
    if first in (0xDE, 0xDF):
        return _Token("map", cursor.number(2 if first == 0xDE else 4))
    raise _DamagedError("a byte that cannot begin a value")


class _Reader:
    """The arrays of a tree, in the order of writing."""

    def __init__(self, source: Source) -> None:
        self.cursor = _Cursor(source)
        self.left = MAX_VALUES
        self.tensors: list[Tensor] = []
        self.shapes: dict[str, list[int]] = {}  # of arrays that are split into chunks

    def tree(self, names: tuple[str, ...]) -> None:
        """One value, under the path of keys that leads to it."""
        self.left -= 1
        if self.left < 0 or len(names) > MAX_DEPTH:
            raise _DamagedError("too many values, or too deeply nested")
        found = _next_token(self.cursor)
        if found.kind == "map":
            for _ in range(found.length):
                self.tree((*names, self._read_key()))
        elif found.kind == "array":
            for number in range(found.length):
                self.tree((*names, str(number)))
        elif found.kind == "extension" and found.code in (_ARRAY, _SCALAR):
            self._read_array(names, self.cursor.at + found.length)
        elif found.kind in ("text", "bytes", "extension"):
            self.cursor.skip(found.length)
        elif found.kind == "number" and len(names) > 2 and names[-2] == "shape":
            self.shapes.setdefault(".".join(names[:-2]), []).append(found.number)

    def _read_key(self) -> str:
        found = _next_token(self.cursor)
        if found.kind == "number":
            return str(found.number)
        if found.kind != "text" or found.length > MAX_KEY:
            raise _DamagedError("a key that is not text")
        return self.cursor.take(found.length).decode("utf-8", "replace")

    def _read_array(self, names: tuple[str, ...], end: int) -> None:
        """`[shape, dtype, bytes]`, as another MessagePack document."""
        if _next_token(self.cursor) != _Token("array", 3):
            raise _DamagedError("an array that does not have three parts")
        dimensions = _next_token(self.cursor)
        if dimensions.kind != "array" or dimensions.length > 64:
            raise _DamagedError("an array without a shape")
        sizes = [_next_token(self.cursor) for _ in range(dimensions.length)]
        word, data = self._read_key(), _next_token(self.cursor)
        if data.kind != "bytes" or any(size.kind != "number" or size.number < 0 for size in sizes):
            raise _DamagedError("an array without bytes or with an invalid shape")
        start = self.cursor.at
        self.cursor.skip(data.length)
        if self.cursor.at != end:
            raise _DamagedError("an array whose length is not the stated one")
        dtype, width = DTYPES.get(word, (word[:40], 0))
        shape = tuple(size.number for size in sizes)
        if width and prod(shape) * width != data.length:
            raise _DamagedError("an array with more or fewer bytes than its shape takes")
        self.tensors.append(Tensor(".".join(names), dtype, shape, start, data.length))


def read(source: Source, path: str) -> Header:
    """The arrays of a Flax file.

    Raises:
        FormatError: it is not MessagePack, is truncated, or was not written by Flax.
        SourceError: the bytes cannot be read.
    """
    reader = _Reader(source)
    try:
        if bytes(source.prefix(1)[:1])[0] & 0xF0 not in (0x80, 0xD0):
            raise _DamagedError("it does not begin with a map")
        reader.tree(())
    except _DamagedError as error:
        rule: Code = "truncated" if "ends" in str(error) else "unreadable-file"
        raise FormatError(f"{escape(path)} cannot be read as Flax's MessagePack: {error}", rule) from error
    findings = Findings(path)
    findings.check_end(reader.cursor.at, source.size)
    tensors, pieces = _chunks_joined(reader)
    regions = around([(each.offset, each.offset + each.nbytes) for each in tensors], source.size, end=reader.cursor.at)
    return Header(path, "flax", source.size, tensors, regions, {}, findings.all(), {}, pieces)


def _chunks_joined(reader: _Reader) -> tuple[list[Tensor], dict[int, Piece]]:
    """The tensors; the chunks of a split array become parts of one tensor."""
    tensors: list[Tensor] = []
    pieces: dict[int, Piece] = {}
    begins: dict[str, int] = {}
    for tensor in reader.tensors:
        name, _, _ = tensor.name.rpartition(".chunks.")
        if name and name in reader.shapes:
            start = begins.get(name, 0)
            begins[name] = start + tensor.elements
            pieces[len(tensors)] = Piece((start,), tuple(reader.shapes[name]))
            tensor = tensor._replace(name=name)
        tensors.append(tensor)
    return tensors, pieces
