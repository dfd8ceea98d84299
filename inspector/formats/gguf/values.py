"""GGUF's typed values: skipped while a header is read, decoded on request.

Names and ids of the types are the specification's (ggml/docs/gguf.md). Limits are those of llama.cpp's reader, or
tighter if a hostile file could otherwise take too long.
"""

import struct
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.errors import FormatError
from inspector.sources import Source
from inspector.units import escape, integer, plural

if TYPE_CHECKING:
    from inspector.model.codes import Code

STRING, ARRAY = 8, 9

#: Type id → the specification's name in lower case.
TYPE_NAMES: Mapping[int, str] = {
    0: "uint8",
    1: "int8",
    2: "uint16",
    3: "int16",
    4: "uint32",
    5: "int32",
    6: "float32",
    7: "bool",
    8: "string",
    9: "array",
    10: "uint64",
    11: "int64",
    12: "float64",
}

#: Type id → `struct` code, for the types of fixed width. Any byte except 0 is a true `bool`, as in llama.cpp.
CODES: Mapping[int, str] = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
WIDTHS: Mapping[int, int] = {kind: struct.calcsize("<" + code) for kind, code in CODES.items()}

#: Bytes of key-values and tensor table together. llama.cpp stops at a GiB; the largest vocabularies take 20 MB.
MAX_HEADER = 100_000_000
#: Bytes of all keys and tensor names together; 100,000 names of ggml's 63 bytes take 6 MB.
MAX_NAMES = 8 * 1024 * 1024
#: Bytes of one string that are decoded. Chat templates reach some 20,000.
MAX_STRING = 4 * 1024 * 1024
#: Strings that are skipped in one file: ten times the largest vocabulary and its merges.
MAX_ITEMS = 2**22
#: An inner array takes as long as this many strings.
ARRAY_COST = 64
#: The specification allows arrays of arrays; nothing writes more than two levels.
MAX_DEPTH = 8


class Layout(NamedTuple):
    """How a file encodes numbers."""

    order: str  # `struct`'s prefix: "<" little-endian, ">" big-endian
    length: struct.Struct  # lengths, counts and dimensions: 32 bits in version 1, 64 since
    uint32: struct.Struct

    @classmethod
    def of(cls, version: int, order: str) -> "Layout":
        return cls(order, struct.Struct(order + ("I" if version == 1 else "Q")), struct.Struct(order + "I"))


class Field(NamedTuple):
    """The position and type of one key-value."""

    kind: int  # type id
    item: int | None  # type id of an array's items
    items: int | None  # number of an array's items
    start: int  # of the value, or of an array's first item; from the start of the file
    end: int

    @property
    def type_name(self) -> str:
        """`uint32`, `string`, `array[string]`."""
        return TYPE_NAMES[self.kind] if self.item is None else f"array[{TYPE_NAMES[self.item]}]"


#: The vocabulary, in a message; a score and a type follow for each token, 4 bytes each, or a type and the merges.
TOKENS, _BESIDE = "`tokenizer.ggml.tokens`", 8


class Cursor:
    """Steps through a file's first bytes, which are fetched as they are needed."""

    def __init__(self, source: Source, path: str) -> None:
        self.source = source
        self.path = path
        self.at = 0
        self.layout = Layout.of(3, "<")
        self._view = source.prefix(0)
        self._items = 0
        self._names = 0

    @property
    def left(self) -> int:
        """Bytes between here and the end of the file."""
        return self.source.size - self.at

    def need(self, length: int, what: str, likely: int = 0) -> memoryview:
        """A view of the file that contains the next `length` bytes.

        Args:
            likely: bytes from the file's start that will probably be needed, which are fetched together.

        Raises:
            FormatError: the file ends before them, or they are beyond any header's length.
        """
        end = self.at + length
        if end > self.source.size:
            raise self.error(
                f"ends at byte {integer(self.source.size)}, inside {what} that begins at byte {integer(self.at)} and "
                f"takes {plural(length, 'byte')}: the file is cut off or damaged",
                "truncated",
            )
        if end > MAX_HEADER:
            raise self.error(f"has {what} that ends at byte {integer(end)}: no header is longer than 100 MB")
        if end > len(self._view):
            self._view = self.source.prefix(max(end, min(likely, self.source.size, MAX_HEADER)))
        return self._view

    def error(self, message: str, rule: "Code" = "unreadable-file") -> FormatError:
        return FormatError(f"{escape(self.path)} {message}", rule)

    def uint32(self, what: str) -> int:
        return self._read_number(self.layout.uint32, what)

    def length(self, what: str) -> int:
        return self._read_number(self.layout.length, what)

    def _read_number(self, form: struct.Struct, what: str) -> int:
        number: int = form.unpack_from(self.need(form.size, what), self.at)[0]
        self.at += form.size
        return number

    def numbers(self, codes: str, what: str) -> tuple[int, ...]:
        """The next numbers, in `struct`'s codes."""
        form = self.layout.order + codes
        length = struct.calcsize(form)
        numbers = struct.unpack_from(form, self.need(length, what), self.at)
        self.at += length
        return numbers

    def text(self, what: str, limit: int) -> bytes:
        """A string of at most `limit` bytes, not yet decoded."""
        length = self.length(what)
        if length > limit and length <= self.left:
            raise self.error(
                f"has {what} of {integer(length)} bytes at byte {integer(self.at)}: at most {integer(limit)}"
            )
        data = bytes(self.need(length, what)[self.at : self.at + length])
        self.at += length
        self._names += length
        if self._names > MAX_NAMES:
            raise self.error(f"has more than {integer(MAX_NAMES)} bytes of keys and names, at {what}")
        return data

    def field(self, what: str) -> Field:
        """Skip one value and its type."""
        kind = self.uint32(f"the type of {what}")
        if kind != ARRAY:
            start = self.at
            self._skip(kind, 1, what, 0)
            return Field(kind, None, None, start, self.at)
        item, count = self._array_head(what)
        start = self.at
        self._skip(item, count, what, 1)
        return Field(kind, item, count, start, self.at)

    def _array_head(self, what: str) -> tuple[int, int]:
        return self.uint32(f"the item type of {what}"), self.length(f"the item count of {what}")

    def _skip(self, kind: int, count: int, what: str, depth: int) -> None:
        """Skip `count` values of one type; those of fixed width all at once."""
        if kind in WIDTHS:
            length = WIDTHS[kind] * count
            self.need(length, what)
            self.at += length
        elif kind == STRING:
            self._skip_strings(count, what)
        elif kind == ARRAY:
            self._skip_arrays(count, what, depth)
        else:
            raise self.error(
                f"has a value type {integer(kind)} for {what}, ending at byte {integer(self.at)}: not GGUF's"
            )

    def _skip_arrays(self, count: int, what: str, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise self.error(f"nests arrays more than {MAX_DEPTH} deep in {what}, at byte {integer(self.at)}")
        self._allow(count, self.layout.uint32.size + self.layout.length.size, what, ARRAY_COST)
        for _ in range(count):
            self._skip(*self._array_head(what), what, depth + 1)

    def _skip_strings(self, count: int, what: str) -> None:
        """Hop from length to length: the one loop whose speed matters, so it does nothing else.

        At the end of the fetched bytes, as many are fetched as the rest takes, if its strings are as long on average.
        """
        unpack, width = self.layout.length.unpack_from, self.layout.length.size
        self._allow(count, width, what)
        view, at, start, hops = self._view, self.at, self.at, iter(range(count))
        while True:
            try:
                for _ in hops:
                    at += width + unpack(view, at)[0]
                break
            except (struct.error, OverflowError):  # beyond the fetched bytes, or beyond the file
                left = length_hint(hops)
                rest = (at - start) * left // (count - left)
                view = self._hop_to(at, width, what, at + rest + (_BESIDE * count if TOKENS in what else 0))
                at += width + unpack(view, at)[0]
        self._hop_to(at, 0, what)

    def _hop_to(self, at: int, length: int, what: str, likely: int = 0) -> memoryview:
        """Move to `at`; return a view with `length` bytes after it."""
        view = self.need(at - self.at + length, what, likely)
        self.at = at
        return view

    def _allow(self, count: int, least: int, what: str, cost: int = 1) -> None:
        """Refuse a count that the rest of the file cannot hold, or that exceeds any vocabulary."""
        if count * least > self.left:
            left = plural(self.left, "byte")
            raise self.error(f"has {integer(count)} items in {what} at byte {integer(self.at)}, {left} before its end")
        self._items += count * cost
        if self._items > MAX_ITEMS:
            raise self.error(f"has more strings or inner arrays in its key-values than any vocabulary, at {what}")

    def key_values(self, fields: Mapping[str, Field]) -> "KeyValues":
        """The values found so far, over a view of the bytes read so far."""
        return KeyValues(self.source.prefix(self.at), self.layout, fields)


class KeyValues(Mapping[str, Any]):
    """Key → value, in the file's order. A value is decoded each time it is requested, not before."""

    def __init__(self, view: memoryview, layout: Layout, fields: Mapping[str, Field]) -> None:
        self._view = view
        self._layout = layout
        self.fields = fields

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def __getitem__(self, key: str) -> Any:
        """The value; an array as a list."""
        field = self.fields[key]
        return next(self._decode(field.kind, 1, field.start)) if field.item is None else list(self.items_of(key))

    def items_of(self, key: str) -> Iterator[Any]:
        """An array's items, decoded one by one on demand."""
        field = self.fields[key]
        assert field.item is not None and field.items is not None
        return self._decode(field.item, field.items, field.start)

    def views_of(self, key: str) -> Iterator[memoryview]:
        """An array's strings, neither decoded nor copied."""
        field = self.fields[key]
        assert field.item == STRING and field.items is not None
        return self._string_views(field.items, field.start)

    def text_of(self, key: str, limit: int) -> tuple[str, int]:
        """The first bytes of a string value, as text, and the length of the whole string in bytes."""
        start = self.fields[key].start
        length: int = self._layout.length.unpack_from(self._view, start)[0]
        start += self._layout.length.size
        return decode(self._view[start : start + min(length, limit)]), length

    def _decode(self, kind: int, count: int, at: int) -> Iterator[Any]:
        if kind == STRING:
            return self._decode_strings(count, at)
        if kind == ARRAY:
            return (value for value, _ in self._decode_arrays(count, at))
        data = self._view[at : at + count * WIDTHS[kind]]
        return chain.from_iterable(struct.iter_unpack(self._layout.order + CODES[kind], data))

    def _decode_strings(self, count: int, at: int) -> Iterator[str]:
        return (decode(text[:MAX_STRING]) for text in self._string_views(count, at))

    def _string_views(self, count: int, at: int) -> Iterator[memoryview]:
        view, unpack, width = self._view, self._layout.length.unpack_from, self._layout.length.size
        for _ in range(count):
            start = at + width
            at = start + unpack(view, at)[0]
            yield view[start:at]

    def _decode_arrays(self, count: int, at: int) -> Iterator[tuple[list[Any], int]]:
        """Inner arrays, each with its end offset."""
        for _ in range(count):
            item = self._layout.uint32.unpack_from(self._view, at)[0]
            length = self._layout.length.unpack_from(self._view, at + 4)[0]
            values, at = self._decode_array(item, length, at + 4 + self._layout.length.size)
            yield values, at

    def _decode_array(self, item: int, count: int, at: int) -> tuple[list[Any], int]:
        if item == ARRAY:
            pairs = list(self._decode_arrays(count, at))
            return [values for values, _ in pairs], pairs[-1][1] if pairs else at
        values = list(self._decode(item, count, at))
        if item in WIDTHS:
            return values, at + count * WIDTHS[item]
        for _ in range(count):
            at += self._layout.length.size + self._layout.length.unpack_from(self._view, at)[0]
        return values, at


def decode(data: bytes | memoryview) -> str:
    """UTF-8 text; invalid bytes become `\\xff`, so that any text can be printed."""
    return str(data, "utf-8", "backslashreplace")
