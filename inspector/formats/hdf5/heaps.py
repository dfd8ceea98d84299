"""HDF5's storage for entries too numerous for an object's header: heaps of bytes, and trees of positions in them.

Section numbers are those of the HDF5 File Format Specification Version 3.0.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

Read = Callable[[int, int], bytes]

#: Bytes fetched at once, and the most such pages kept in memory.
_PAGE, _PAGES = 1 << 16, 64
#: The most bytes read from one file: object headers are far apart in large files.
MAX_READ = 512 * 1024 * 1024
#: The most nodes of one tree, records of one node, blocks of one heap, and bytes of one heap object.
MAX_NODES, MAX_BLOCKS, MAX_OBJECT = 20_000, 20_000, 16 * 1024 * 1024
MAX_DEPTH = 16
_BEYOND = 1 << 64  # more than any length


class DamageError(ValueError):
    """A part of a file that violates the format."""


class Bytes:
    """A file's bytes by position, a page at a time."""

    def __init__(self, read: Read, size: int) -> None:
        self._read, self._size = read, size
        self._pages: dict[int, bytes] = {}
        self._left = MAX_READ

    def take(self, at: int, length: int) -> bytes:
        """Exactly this many bytes. Raises DamageError."""
        if at < 0 or at + length > self._size:
            raise DamageError("an address beyond the file's end")
        if length > MAX_OBJECT:
            raise DamageError("an implausibly large object")
        page, start = divmod(at, _PAGE)
        if start + length <= _PAGE:
            return self._page(page)[start : start + length]
        last = (at + length - 1) // _PAGE
        whole = b"".join(self._page(each) for each in range(page, last + 1))
        return whole[start : start + length]

    def _page(self, number: int) -> bytes:
        if number not in self._pages:
            self._left -= _PAGE
            if self._left < 0:
                raise DamageError("more of it than the audit reads")
            if len(self._pages) >= _PAGES:
                self._pages.pop(next(iter(self._pages)))
            self._pages[number] = self._read(number * _PAGE, min(_PAGE, self._size - number * _PAGE))
        return self._pages[number]


class Layout(NamedTuple):
    """How a file encodes addresses and lengths, and the base of its addresses."""

    data: Bytes
    offset_width: int
    length_width: int
    base: int

    def address(self, raw: bytes, at: int) -> int:
        """An address within the file. Raises DamageError."""
        return self._number(raw, at, self.offset_width) + self.base

    def length(self, raw: bytes, at: int) -> int:
        return self._number(raw, at, self.length_width)

    def address_at(self, at: int) -> int:
        return self.address(self.data.take(at, self.offset_width), 0)

    def is_undefined(self, address: int) -> bool:
        """Whether an address is undefined: all its bits are set."""
        return address - self.base == (1 << 8 * self.offset_width) - 1

    def _number(self, raw: bytes, at: int, width: int) -> int:
        if len(raw) < at + width:
            raise DamageError("a truncated message")
        return int.from_bytes(raw[at : at + width], "little")


def local_text(layout: Layout, heap: int, offset: int) -> bytes:
    """Bytes of a local heap from an offset on, at most a name's (III.D)."""
    head = layout.data.take(heap, 8 + 2 * layout.length_width + layout.offset_width)
    if head[:4] != b"HEAP":
        raise DamageError("names without their heap")
    size = layout.length(head, 8)
    if offset >= size:
        raise DamageError("a name outside its heap")
    return layout.data.take(layout.address(head, 8 + 2 * layout.length_width) + offset, min(size - offset, 4_096))


def global_object(layout: Layout, collection: int, number: int) -> bytes:
    """An object of a global heap (III.E)."""
    wide = layout.length_width
    head = layout.data.take(collection, 8 + wide)
    if head[:4] != b"GCOL":
        raise DamageError("a value without its heap")
    at, end = collection + 8 + wide, collection + layout.length(head, 8)
    while at + 8 + wide <= end:
        entry = layout.data.take(at, 8 + wide)
        index, size = int.from_bytes(entry[:2], "little"), layout.length(entry, 8)
        at += 8 + wide
        if index == number:
            return layout.data.take(at, size)
        if not index:
            break
        at += -(-size // 8) * 8
    raise DamageError("a value missing from its heap")


def records(layout: Layout, tree: int) -> Iterator[bytes]:
    """Every record of a tree of version 2 (III.A.2)."""
    head = layout.data.take(tree, 22 + layout.offset_width + layout.length_width)
    if head[:4] != b"BTHD":
        raise DamageError("a heap without its tree")
    node_size, width, depth = (int.from_bytes(head[at : at + n], "little") for at, n in ((6, 4), (10, 2), (12, 2)))
    root = layout.address(head, 16)
    count = int.from_bytes(head[16 + layout.offset_width :][:2], "little")
    if not count or layout.is_undefined(root):
        return
    if depth > MAX_DEPTH or not width or node_size < 10 + width:
        raise DamageError("an invalid tree")
    shape = _Tree(node_size, width)
    pending = [(root, count, depth)]
    for number, (address, held, level) in enumerate(pending):
        if number > MAX_NODES:
            raise DamageError("an implausibly large tree")
        raw = layout.data.take(address, node_size)
        if raw[:4] != (b"BTIN" if level else b"BTLF") or 6 + held * width > node_size:
            raise DamageError("an invalid tree node")
        yield from (raw[6 + width * each :][:width] for each in range(held))
        if level:
            pending += shape.children(layout, raw, held, level)


class _Tree(NamedTuple):
    """The properties that determine how many bytes a count takes in a tree's nodes."""

    node_size: int
    width: int

    def children(self, layout: Layout, raw: bytes, held: int, level: int) -> Iterator[tuple[int, int, int]]:
        """Address, count of records and level of a node's children."""
        counted, total = self._widths(layout, level)
        step = layout.offset_width + counted + total
        at = 6 + self.width * held
        for each in range(held + 1):
            place = at + step * each
            held_there = int.from_bytes(raw[place + layout.offset_width :][:counted], "little")
            yield layout.address(raw, place), held_there, level - 1

    def _widths(self, layout: Layout, level: int) -> tuple[int, int]:
        """Bytes of the count of records of a child at `level - 1`, and of the total below it (0 for leaves)."""
        most = (self.node_size - 10) // self.width  # in a leaf
        widest, below, total = _bytes_of(most), most, 0
        for _ in range(level - 1):
            fits = (self.node_size - 10 - layout.offset_width - widest - total) // (
                self.width + layout.offset_width + widest + total
            )
            below = fits + (fits + 1) * below
            total = _bytes_of(below)
        return widest, total


def _bytes_of(number: int) -> int:
    return max(1, (number.bit_length() + 7) // 8)


class Heap:
    """A fractal heap: blocks in rows, each twice as large as in the previous row (III.G)."""

    def __init__(self, layout: Layout, address: int) -> None:
        self.layout = layout
        offset, length = layout.offset_width, layout.length_width
        head = layout.data.take(address, 22 + 12 * length + 3 * offset)
        if head[:4] != b"FRHP":
            raise DamageError("an invalid heap")
        if head[7] or head[8]:
            raise DamageError("a compressed heap")
        self.huge = layout.address(head, 14 + length)
        at = 14 + 10 * length + 2 * offset
        self.columns = int.from_bytes(head[at : at + 2], "little")
        self.first_size = layout.length(head, at + 2)
        self.most_direct = layout.length(head, at + 2 + length)
        at += 2 + 2 * length
        self.bits = int.from_bytes(head[at : at + 2], "little")
        self.root = layout.address(head, at + 4)
        self.rows = int.from_bytes(layout.data.take(address + at + 4 + offset, 2), "little")
        if not self.columns or not self.first_size or self.first_size > self.most_direct or self.bits > 64:
            raise DamageError("an invalid heap")

    def object(self, place: bytes) -> bytes:
        """The bytes at a position. Raises DamageError."""
        kind = place[0] >> 4 & 3
        if kind == 2:
            return place[1 : 2 + (place[0] & 0xF)]
        if kind == 1:
            return self._huge_object(int.from_bytes(place[1:], "little"))
        wide = (self.bits + 7) // 8
        offset = int.from_bytes(place[1 : 1 + wide], "little")
        size = int.from_bytes(place[1 + wide :], "little")
        at = bisect(self._blocks, (offset, _BEYOND))
        start, length, address = self._blocks[at - 1] if at else (0, 0, 0)
        if offset >= start + length:
            raise DamageError("a position outside all blocks of the heap")
        return self.layout.data.take(address + offset - start, min(size, length - (offset - start)))

    def _huge_object(self, number: int) -> bytes:
        """A huge object, found by its number in a tree of (address, length, number)."""
        for record in records(self.layout, self.huge):
            if self.layout.length(record, self.layout.offset_width + self.layout.length_width) == number:
                return self.layout.data.take(
                    self.layout.address(record, 0), self.layout.length(record, self.layout.offset_width)
                )
        raise DamageError("an object missing from its heap")

    @cached_property
    def _blocks(self) -> list[tuple[int, int, int]]:
        """Where each direct block starts in the heap's own space, its bytes, and its address."""
        if not self.rows:
            return [(0, self.first_size, self.root)]
        return list(self._of_indirect(self.root, 0, self.rows, MAX_DEPTH))

    def _of_indirect(self, address: int, start: int, rows: int, depth: int) -> Iterator[tuple[int, int, int]]:
        if not depth or rows * self.columns > MAX_BLOCKS:
            raise DamageError("an implausibly large heap")
        offset = self.layout.offset_width
        at = address + 5 + offset + (self.bits + 7) // 8
        raw = self.layout.data.take(at, rows * self.columns * offset)
        for each in range(rows * self.columns):
            size = self.first_size << max(0, each // self.columns - 1)
            child = self.layout.address(raw, each * offset)
            if not self.layout.is_undefined(child):
                if size <= self.most_direct:
                    yield start, size, child
                else:
                    yield from self._of_indirect(child, start, self._rows_of(size), depth - 1)
            start += size

    def _rows_of(self, size: int) -> int:
        """Rows of an indirect block that covers this many bytes."""
        return (size // (self.first_size * self.columns)).bit_length()
