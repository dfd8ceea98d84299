"""HDF5 files by their own structure: each object's links and attributes, and the other files they name.

https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html ("HDF5 File Format Specification Version 3.0"). No
dataset's elements are read: the traversal covers object headers, the tables and heaps of groups, and attributes,
wherever they are in the file. An object that cannot be followed is reported, and the traversal continues with the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from inspector.formats.hdf5.heaps import Bytes, DamageError, Heap, Layout, global_object, local_text, records

Read = Callable[[int, int], bytes]

SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: The most objects of one file; a model has a few for each tensor.
MAX_OBJECTS = 200_000
#: The most messages of one object, and the most chunks of its header.
MAX_MESSAGES, MAX_CHUNKS = 70_000, 5_000
#: The deepest nesting of groups; the most nodes of one group's table.
MAX_LEVELS, MAX_NODES = 64, 100_000
#: The most bytes of one attribute.
MAX_ATTRIBUTE = 16 * 1024 * 1024
#: The superblock may be preceded by other data: it is searched for at these offsets (II.A).
_PLACES = (0, *(512 << power for power in range(24)))
#: Types of messages (IV.A.2).
_LINK_INFO, _LINK, _EXTERNAL_FILES, _LAYOUT, _ATTRIBUTE, _CONTINUED, _TABLE, _ATTRIBUTE_INFO = (
    *(0x02, 0x06, 0x07, 0x08, 0x0C, 0x10, 0x11, 0x15),
)
_VIRTUAL, _EXTERNAL_LINK = 3, 64
_SHARED = 2  # message flag: the content is stored elsewhere


class Elsewhere(NamedTuple):
    """Something that an object takes from another file."""

    what: str  # "an external link", "a dataset whose bytes are stored", "a virtual dataset"
    file: str


class Attribute(NamedTuple):
    """A text or other bytes that an object has in addition to its data."""

    name: str
    value: bytes


class Unread(NamedTuple):
    """A part of the file that could not be followed."""

    why: str


Part = Elsewhere | Attribute | Unread


def start_of(read: Read, size: int) -> int | None:
    """The offset of the superblock; None if it is not an HDF5 file."""
    return next((place for place in _PLACES if place < size and read(place, 8) == SIGNATURE), None)


def parts(read: Read, size: int) -> Iterator[Part]:
    """The contents of a file's objects, starting at its root."""
    start = start_of(read, size)
    if start is None:
        yield Unread("not an HDF5 file")
        return
    try:
        layout, root = _superblock(Bytes(read, size), start)
    except DamageError as damage:
        yield Unread(str(damage))
        return
    pending, seen = [root], {root}
    while pending:
        walk = _Object(layout, pending.pop())
        try:
            yield from walk.parts()
        except DamageError as damage:
            yield Unread(str(damage))
        new = dict.fromkeys(each for each in walk.inner if each not in seen)
        if len(seen) + len(new) > MAX_OBJECTS:
            yield Unread("implausibly many objects")
            return
        seen |= new.keys()
        pending += new


def _superblock(data: Bytes, start: int) -> tuple[Layout, int]:
    """The width of the file's numbers, and the address of the root group's header (II.A)."""
    version = data.take(start + 8, 1)[0]
    if version not in (0, 1, 2, 3):
        raise DamageError(f"a superblock of version {version}")
    widths = data.take(start + (13 if version < 2 else 9), 2)
    if any(width not in (2, 4, 8) for width in widths):
        raise DamageError("addresses of an invalid width")
    offset, length = widths
    at = start + (24 + 4 * version if version < 2 else 12)
    layout = Layout(
        data, offset, length, start
    )  # the library counts from the superblock, regardless of the stated base address
    # Before version 2: free space, end and driver, then the root's entry, whose second field is the address.
    return layout, layout.address_at(at + (5 if version < 2 else 3) * offset)


class _Object:
    """One object: its header's messages, followed to the tables and heaps that they name."""

    def __init__(self, layout: Layout, address: int) -> None:
        self.layout, self.address = layout, address
        self.inner: list[int] = []  # addresses of the objects that it links to

    def parts(self) -> Iterator[Part]:
        readers = {
            _LINK: self._link,
            _LINK_INFO: self._many_links,
            _TABLE: self._table,
            _EXTERNAL_FILES: self._stored_elsewhere,
            _LAYOUT: self._virtual,
            _ATTRIBUTE: self._attribute,
            _ATTRIBUTE_INFO: self._many_attributes,
        }
        for kind, flags, body in self._messages():
            if kind not in readers:
                continue
            if flags & _SHARED:
                yield Unread("a message stored elsewhere")
                continue
            try:
                yield from readers[kind](body)
            except DamageError as damage:
                yield Unread(str(damage))

    # --- the header ---------------------------------------------------------------------------

    def _messages(self) -> Iterator[tuple[int, int, bytes]]:
        """Type, flags and body of each message (IV.A.1)."""
        take, at = self.layout.data.take, self.address
        if take(at, 4) == b"OHDR":
            flags = take(at + 5, 1)[0]
            at += 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
            width = 1 << (flags & 3)
            size = int.from_bytes(take(at, width), "little")
            ahead = 4 + 2 * bool(flags & 4)
            yield from self._in_chunks(at + width, size, ahead, newer=True)
        elif take(at, 1) == b"\1":
            yield from self._in_chunks(at + 16, int.from_bytes(take(at + 8, 4), "little"), 8, newer=False)
        else:
            raise DamageError("an object without a header")

    def _in_chunks(self, at: int, size: int, ahead: int, *, newer: bool) -> Iterator[tuple[int, int, bytes]]:
        chunks = [(at, size)]
        left = MAX_MESSAGES
        for number, (start, length) in enumerate(chunks):
            if number > MAX_CHUNKS:
                raise DamageError("an object header in implausibly many pieces")
            end = start + length
            while start + ahead <= end and left:
                left -= 1
                head = self.layout.data.take(start, ahead)
                kind = head[0] if newer else int.from_bytes(head[:2], "little")
                size = int.from_bytes(head[1:3] if newer else head[2:4], "little")
                if size > end - start - ahead:
                    break  # the gap at the end of a chunk
                body = self.layout.data.take(start + ahead, size)
                start += ahead + size
                if kind == _CONTINUED:
                    more, more_size = self.layout.address(body, 0), self.layout.length(body, self.layout.offset_width)
                    chunks.append((more + 4, more_size - 8) if newer else (more, more_size))
                else:
                    yield kind, head[3] if newer else head[4], body
        if not left:
            raise DamageError("an object with implausibly many messages")

    # --- groups ---------------------------------------------------------------------------------

    def _link(self, body: bytes) -> Iterator[Part]:
        """One link: to an object of this file, to a path in it, or to another file (IV.A.2.g)."""
        flags, at = _byte(body, 1), 2
        kind = _byte(body, at) if flags & 8 else 0
        at += bool(flags & 8) + 8 * bool(flags & 4) + bool(flags & 0x10)
        width = 1 << (flags & 3)
        at += width + int.from_bytes(body[at : at + width], "little")
        if kind == 0:
            self.inner.append(self.layout.address(body, at))
        elif kind == _EXTERNAL_LINK:
            yield Elsewhere("an external link", _name_text(body[at + 3 :]))
        elif kind != 1:
            yield Unread(f"a user-defined link, of type {kind}")

    def _many_links(self, body: bytes) -> Iterator[Part]:
        """A group whose links are kept in a heap (IV.A.2.c)."""
        at = 2 + 8 * (_byte(body, 1) & 1)
        for link in self._in_heap(body, at, record=(4, 7)):
            yield from self._link(link)

    def _table(self, body: bytes) -> Iterator[Part]:
        """A group of the first format: a tree of tables, which link only to objects of the same file (III.A, III.B)."""
        pending = [(self.layout.address(body, 0), MAX_LEVELS)]
        for number, (address, levels) in enumerate(pending):
            if number > MAX_NODES or not levels:
                raise DamageError("an implausibly large group table")
            head = self.layout.data.take(address, 8)
            count = int.from_bytes(head[6:8], "little")
            if head[:4] == b"TREE":
                wide, step = self.layout.offset_width, self.layout.offset_width + self.layout.length_width
                first = address + 8 + 2 * wide + self.layout.length_width
                pending += [(self.layout.address_at(first + step * each), levels - 1) for each in range(count)]
            elif head[:4] == b"SNOD":
                step = 2 * self.layout.offset_width + 24
                raw = self.layout.data.take(address + 8, step * count)
                for each in range(count):
                    at = step * each + self.layout.offset_width
                    if raw[at + self.layout.offset_width] != 2:  # a soft link has no object
                        self.inner.append(self.layout.address(raw, at))
            else:
                raise DamageError("a group without its table")
        yield from ()

    # --- data -----------------------------------------------------------------------------------

    def _stored_elsewhere(self, body: bytes) -> Iterator[Part]:
        """A dataset whose bytes are in other files (IV.A.2.h)."""
        heap, wide = self.layout.address(body, 8), self.layout.length_width
        for slot in range(int.from_bytes(body[6:8], "little")):
            name = self.layout.length(body, 8 + self.layout.offset_width + slot * 3 * wide)
            yield Elsewhere("a dataset whose bytes are stored", _name_text(local_text(self.layout, heap, name)))

    def _virtual(self, body: bytes) -> Iterator[Part]:
        """A dataset composed of others (IV.A.2.i, layout class 3)."""
        if _byte(body, 0) >= 4 and _byte(body, 1) == _VIRTUAL:
            heap = self.layout.address(body, 2)
            number = int.from_bytes(body[2 + self.layout.offset_width :][:4], "little")
            entries = global_object(self.layout, heap, number)
            yield Elsewhere("a virtual dataset, made of what is", _name_text(entries[1 + self.layout.length_width :]))

    def _attribute(self, body: bytes) -> Iterator[Part]:
        """A name, a type, a shape and the bytes (IV.A.2.m)."""
        version = _byte(body, 0)
        sizes = [int.from_bytes(body[at : at + 2], "little") for at in (2, 4, 6)]
        at = 8 + (version == 3)
        places = []
        for size in sizes:
            places.append(at)
            at += size if version > 1 else -(-size // 8) * 8
        kind = _byte(body, places[1]) & 0xF
        value = body[at:]
        if kind == 9:  # variable length: bytes, address, number
            value = b"".join(self._variable(value))
        elif kind == 3:  # fixed length, padded
            value = value.rstrip(b"\0")
        yield Attribute(_name_text(body[places[0] : places[0] + sizes[0]]), value[:MAX_ATTRIBUTE])
        if len(value) > MAX_ATTRIBUTE:
            yield Unread("an implausibly long attribute")

    def _variable(self, value: bytes) -> Iterator[bytes]:
        step = 8 + self.layout.offset_width
        for at in range(0, min(len(value), 1_000 * step) // step * step, step):
            heap = self.layout.address(value, at + 4)
            number = int.from_bytes(value[at + step - 4 : at + step], "little")
            if number and not self.layout.is_undefined(heap):
                yield global_object(self.layout, heap, number)

    def _many_attributes(self, body: bytes) -> Iterator[Part]:
        """Attributes that are kept in a heap (IV.A.2.v)."""
        at = 2 + 2 * (_byte(body, 1) & 1)
        for attribute in self._in_heap(body, at, record=(0, 8)):
            yield from self._attribute(attribute)

    def _in_heap(self, body: bytes, at: int, record: tuple[int, int]) -> Iterator[bytes]:
        """Messages in a heap, whose positions are the records of a tree; nothing if there is no heap."""
        heap, index = self.layout.address(body, at), self.layout.address(body, at + self.layout.offset_width)
        if self.layout.is_undefined(heap) or self.layout.is_undefined(index):
            return
        found = Heap(self.layout, heap)
        start, length = record
        for each in records(self.layout, index):
            yield found.object(each[start : start + length])


def _byte(body: bytes, at: int) -> int:
    if at >= len(body):
        raise DamageError("a truncated message")
    return body[at]


def _name_text(raw: bytes) -> str:
    return raw.partition(b"\0")[0][:1_000].decode("utf-8", "replace")
