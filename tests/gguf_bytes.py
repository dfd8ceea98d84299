"""GGUF files written byte by byte from the specification, for any version and byte order, valid or not."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64 = range(13)
_CODES = dict(zip(range(13), "BbHhIif?  Qqd", strict=True))  # none for strings and arrays


@dataclass
class Array:
    """An array value: `Array(STRING, ["a", "b"])`. `count`, if given, is written in place of the true count."""

    item: int
    items: list[Any]
    count: int | None = None


@dataclass
class Raw:
    """A value whose bytes are written as they are, whatever its type."""

    data: bytes


@dataclass
class Info:
    """An entry of the tensor table; dimensions with the fastest first."""

    name: str | bytes
    dims: list[int]
    type: int = 0
    offset: int = 0
    n_dims: int | None = None
    name_length: int | None = None


@dataclass
class Recipe:
    """The contents of a file. Counts are the true ones unless given."""

    version: int = 3
    order: str = "<"
    magic: bytes = b"GGUF"
    pairs: Sequence[tuple[str | bytes, int, Any]] = field(default_factory=list)
    infos: Sequence[Info] = field(default_factory=list)
    data: bytes = b""
    n_tensors: int | None = None
    n_pairs: int | None = None
    alignment: int = 32
    wide: bool | None = None  # 64-bit lengths; decided by the version where None

    def header(self) -> bytes:
        """Everything before the padding."""
        counts = [len(self.infos) if self.n_tensors is None else self.n_tensors]
        counts += [len(self.pairs) if self.n_pairs is None else self.n_pairs]
        parts = [self.magic, self._number("I", self.version), *(self.length(count) for count in counts)]
        for key, kind, value in self.pairs:
            parts += [self.text(key), self._number("I", kind), self.value(kind, value)]
        parts += [self._info(info) for info in self.infos]
        return b"".join(parts)

    def file(self) -> bytes:
        """The complete file."""
        header = self.header()
        if not self.infos and not self.data:
            return header
        return header + bytes(-len(header) % self.alignment) + self.data

    def length(self, number: int) -> bytes:
        wide = self.version != 1 if self.wide is None else self.wide
        return self._number("Q" if wide else "I", number)

    def text(self, text: str | bytes, length: int | None = None) -> bytes:
        data = text.encode() if isinstance(text, str) else text
        return self.length(len(data) if length is None else length) + data

    def value(self, kind: int, value: Any) -> bytes:
        if isinstance(value, Raw):
            return value.data
        if kind == STRING:
            return self.text(value)
        if kind == ARRAY:
            head = self._number("I", value.item) + self.length(len(value.items) if value.count is None else value.count)
            return head + b"".join(self.value(value.item, item) for item in value.items)
        return self._number(_CODES[kind], value)

    def _info(self, info: Info) -> bytes:
        dims = b"".join(self.length(dim) for dim in info.dims)
        n_dims = len(info.dims) if info.n_dims is None else info.n_dims
        rest = self._number("I", n_dims) + dims + self._number("I", info.type) + self._number("Q", info.offset)
        return self.text(info.name, info.name_length) + rest

    def _number(self, code: str, value: Any) -> bytes:
        return struct.pack(self.order + code, value)
