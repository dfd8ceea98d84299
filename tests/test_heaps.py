"""HDF5's heaps, trees and messages, byte by byte: section numbers are those of its specification 3.0."""

from __future__ import annotations

from typing import Any

import pytest
from hostile.hdf5_files import hdf5

from inspector.formats.hdf5 import heaps as hdf5_heaps
from inspector.formats.hdf5 import structure as walk
from inspector.formats.hdf5.heaps import Bytes, DamageError, Heap, Layout, global_object, local_text, records
from inspector.formats.hdf5.structure import Attribute, Elsewhere, Part, Unread


def laid(raw: bytes, offset: int = 8, length: int = 8, base: int = 0) -> Layout:
    return Layout(Bytes(lambda at, size: raw[at : at + size], len(raw)), offset, length, base)


def number(value: int, width: int = 8) -> bytes:
    return value.to_bytes(width, "little")


def damage(what: str) -> Any:
    return pytest.raises(DamageError, match=f"^{what}$")


NONE = b"\xff" * 8


def test_bytes_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is read once; the number of kept pages, and the bytes read, are limited."""
    raw = bytes(range(256)) * 1024  # four pages
    asked: list[tuple[int, int]] = []

    def read(at: int, length: int) -> bytes:
        asked.append((at, length))
        return raw[at : at + length]

    data = Bytes(read, len(raw) - 100)
    assert data.take(5, 3) == b"\5\6\7"
    assert data.take(65536, 2) == b"\0\1"
    assert data.take(65530, 12) == raw[65530:65542]
    assert data.take(65530, 65536 + 12) == raw[65530 : 65530 + 65548]
    assert data.take(len(raw) - 101, 1) == raw[-101:-100]
    assert asked == [(0, 65536), (65536, 65536), (131072, 65536), (196608, 65436)]
    assert data.take(0, 0) == b""
    for at, length in ((-1, 2), (len(raw) - 100, 1), (0, len(raw))):
        with damage("an address beyond the file's end"):
            data.take(at, length)
    monkeypatch.setattr(hdf5_heaps, "MAX_OBJECT", 70_000)
    assert len(data.take(0, 70_000)) == 70_000
    with damage("an implausibly large object"):
        data.take(0, 70_001)
    monkeypatch.setattr(hdf5_heaps, "MAX_READ", 2 * 65536)
    little = Bytes(read, len(raw))
    little.take(0, 65536)
    little.take(65536, 65536)
    with damage("more of it than the audit reads"):
        little.take(131072, 1)
    monkeypatch.setattr(hdf5_heaps, "_PAGES", 1)
    del asked[:]
    few = Bytes(read, len(raw))
    few.take(0, 1)
    few.take(65536, 1)
    monkeypatch.setattr(hdf5_heaps, "MAX_READ", 9 * 65536)
    assert asked == [(0, 65536), (65536, 65536)]


def test_numbers_of_a_layout() -> None:
    layout = laid(number(7, 4) + number(9, 2), 4, 2, base=100)
    assert layout.address_at(0) == 107
    assert layout.address(b"\0\0" + number(3, 4), 2) == 103
    assert layout.length(b"\0" + number(513, 2), 1) == 513
    assert layout.is_undefined(100 + 0xFFFFFFFF)
    assert not layout.is_undefined(0xFFFFFFFF)
    with damage("a truncated message"):
        layout.length(b"\0", 0)


def test_texts_in_a_local_heap() -> None:
    """III.D: signature, version, bytes of the data, free list, address of the data."""

    def heap(size: int = 12, mark: bytes = b"HEAP") -> Layout:
        return laid(mark + bytes(4) + number(size) + bytes(8) + number(40) + bytes(8) + b"one\0two\0....")

    assert local_text(heap(), 0, 4) == b"two\0...."
    assert local_text(heap(), 0, 11) == b"."
    assert local_text(heap(6), 0, 4) == b"tw"
    with damage("a name outside its heap"):
        local_text(heap(), 0, 12)
    with damage("names without their heap"):
        local_text(heap(mark=b"HEAX"), 0, 4)
    long = laid(b"HEAP" + bytes(4) + number(9000) + bytes(8) + number(32) + b"x" * 9000)
    assert len(local_text(long, 0, 0)) == 4096


def test_objects_in_a_global_heap() -> None:
    """III.E: signature, version, bytes of the collection; then number, count, bytes, and data padded to eight."""

    def entry(index: int, data: bytes) -> bytes:
        return number(index, 2) + bytes(6) + number(len(data)) + data + bytes(-len(data) % 8)

    entries = entry(1, b"first") + entry(3, b"second, longer")
    heap = b"GCOL" + bytes(4) + number(16 + len(entries) + 16) + entries + entry(0, b"")
    assert global_object(laid(b"??" + heap), 2, 1) == b"first"
    assert global_object(laid(heap), 0, 3) == b"second, longer"
    for index in (2, 0x10001):
        with damage("a value missing from its heap"):
            global_object(laid(heap), 0, index)
    free = b"GCOL" + bytes(4) + number(16 + 16 + len(entries)) + entry(0, b"") + entries
    with damage("a value missing from its heap"):
        global_object(laid(free), 0, 3)
    short = b"GCOL" + bytes(4) + number(16 + 23) + entries
    with damage("a value missing from its heap"):
        global_object(laid(short), 0, 3)
    with damage("a value without its heap"):
        global_object(laid(b"GCOX" + heap[4:]), 0, 1)


def tree(
    *nodes: bytes,
    node_size: int = 64,
    width: int = 8,
    depth: int = 0,
    count: int = 2,
    root: int = 38,
    mark: bytes = b"BTHD",
) -> bytes:
    """III.A.2: a tree of version 2, its header before its nodes."""
    head = mark + bytes(2) + number(node_size, 4) + number(width, 2) + number(depth, 2) + bytes(2)
    head += number(root) + number(count, 2) + bytes(8)
    return head + bytes(38 - len(head)) + b"".join(node + bytes(node_size - len(node)) for node in nodes)


def leaf(*held: bytes) -> bytes:
    return b"BTLF" + bytes(2) + b"".join(held)


A, B, C, D = (letter * 8 for letter in (b"a", b"b", b"c", b"d"))


def test_records_of_a_leaf() -> None:
    assert list(records(laid(tree(leaf(A, B))), 0)) == [A, B]
    assert list(records(laid(tree(leaf(A, B), count=0)), 0)) == []
    assert list(records(laid(tree(leaf(A, B), root=(1 << 64) - 1)), 0)) == []
    for made, what in (
        (tree(leaf(A), mark=b"BTHX"), "a heap without its tree"),
        (tree(leaf(A), depth=17), "an invalid tree"),
        (tree(leaf(A), width=0), "an invalid tree"),
        (tree(leaf(A), node_size=17), "an invalid tree"),
        (tree(leaf(A), count=8), "an invalid tree node"),
        (tree(b"BTIN" + bytes(20)), "an invalid tree node"),
        (tree(leaf(A), root=1 << 20), "an address beyond the file's end"),
    ):
        with damage(what):
            list(records(laid(made), 0))
    assert len(list(records(laid(tree(leaf(*[A] * 7), node_size=62, count=7)), 0))) == 7


def test_records_of_inner_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node has its records, then each child's address, its records, and, above leaves' parents, all below it."""

    def child(node: int, held: int, below: bytes = b"") -> bytes:
        return number(38 + 64 * node) + bytes((held,)) + below

    inner = b"BTIN" + bytes(2) + B + child(1, 1) + child(2, 2)
    raw = tree(inner, leaf(A), leaf(C, D), depth=1, count=1)
    assert list(records(laid(raw), 0)) == [B, A, C, D]
    top = b"BTIN" + bytes(2) + B + child(1, 1, b"\3") + child(2, 0, b"\1")
    second = b"BTIN" + bytes(2) + C + child(3, 1) + child(4, 1)
    third = b"BTIN" + bytes(2) + child(3, 1)
    raw = tree(top, second, third, leaf(A), leaf(D), depth=2, count=1)
    assert list(records(laid(raw), 0)) == [B, C, A, D, A]
    monkeypatch.setattr(hdf5_heaps, "MAX_NODES", 2)
    with damage("an implausibly large tree"):
        list(records(laid(raw), 0))


@pytest.mark.parametrize(
    ("node_size", "width", "level", "widths"),
    [
        (512, 11, 1, (1, 0)),
        (4096, 11, 1, (2, 0)),
        (512, 11, 2, (1, 2)),  # 45 in a leaf, 24 in a node: 24 + 25 × 45
        (512, 11, 3, (1, 2)),  # 22 in a node: 22 + 23 × 1,149
        (512, 11, 4, (1, 3)),
        (2048, 17, 2, (1, 2)),
    ],
)
def test_bytes_of_counts(node_size: int, width: int, level: int, widths: tuple[int, int]) -> None:
    """As many as the largest count below a node needs: III.A.2, "Child Node Pointers"."""
    assert hdf5_heaps._Tree(node_size, width)._widths(laid(b""), level) == widths
    assert [hdf5_heaps._bytes_of(each) for each in (0, 255, 256, 65535, 65536)] == [1, 1, 2, 2, 3]


def fractal(
    *, rows: int = 0, root: int = 0, columns: int = 2, first: int = 64, direct: int = 128, bits: int = 16, mark: bytes = b"FRHP",
    filters: int = 0, managed: int = 64, huge: int = 0,
) -> bytes:  # fmt: skip
    """III.G: the header of a fractal heap, of 142 bytes."""
    head = mark + b"\0" + number(8, 2) + number(filters, 2) + b"\0" + number(managed, 4) + bytes(8) + number(huge)
    head += bytes(8 + 8 + 8 * 8)
    head += (
        number(columns, 2)
        + number(first)
        + number(direct)
        + number(bits, 2)
        + bytes(2)
        + number(root)
        + number(rows, 2)
    )
    return head + bytes(4)


START = len(fractal())


def place(offset: int, size: int) -> bytes:
    """The heap id of a managed object: kind, offset in two bytes, length in the rest."""
    return b"\0" + number(offset, 2) + number(size, 2)


def test_a_heap_of_one_block() -> None:
    heap = Heap(laid(fractal(root=START) + bytes(range(64))), 0)
    assert heap.object(place(5, 3)) == b"\5\6\7"
    assert heap.object(place(60, 9)) == bytes((60, 61, 62, 63))
    with damage("a position outside all blocks of the heap"):
        heap.object(place(64, 1))
    assert heap.object(b"\x22tiny") == b"tin"
    assert heap.object(b"\x2ftiny") == b"tiny"
    for changed, what in (
        ({"mark": b"FRHX"}, "an invalid heap"),
        ({"filters": 1}, "a compressed heap"),
        ({"filters": 256}, "a compressed heap"),
        ({"columns": 0}, "an invalid heap"),
        ({"first": 0}, "an invalid heap"),
        ({"direct": 63}, "an invalid heap"),
        ({"bits": 65}, "an invalid heap"),
    ):
        with damage(what):
            Heap(laid(fractal(**changed) + bytes(64)), 0)
    assert Heap(laid(fractal(direct=64, bits=64) + bytes(64)), 0).first_size == 64


def test_a_heap_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns: blocks of 64, 64, 64, 64, 128, 128 bytes, the third of them missing; then 256 in a block of two."""
    head = 15  # signature, version, the heap's address, the block's offset in two bytes
    table = START
    blocks = table + head + 8 * 8
    places = [blocks, blocks + 64, None, blocks + 128, blocks + 192, None, blocks + 400, None]
    children = b"".join(NONE if each is None else number(each) for each in places)
    data = b"A" * 64 + b"B" * 64 + b"D" * 64 + b"E" * 128
    inner = bytes(head) + number(blocks) + NONE + NONE + NONE
    raw = fractal(rows=4, root=table) + bytes(head) + children + data
    raw += bytes(blocks + 400 - len(raw)) + inner
    heap = Heap(laid(raw), 0)
    found = {offset: heap.object(place(offset, 2)) for offset in (0, 63, 64, 192, 256, 383, 512)}
    assert found == {0: b"AA", 63: b"A", 64: b"BB", 192: b"DD", 256: b"EE", 383: b"E", 512: b"AA"}
    for offset in (128, 191, 384, 511, 576, 1000):
        with damage("a position outside all blocks of the heap"):
            heap.object(place(offset, 2))
    assert [heap._rows_of(size) for size in (128, 256, 512, 1024)] == [1, 2, 3, 4]
    monkeypatch.setattr(hdf5_heaps, "MAX_BLOCKS", 8)
    assert Heap(laid(raw), 0).object(place(0, 1)) == b"A"
    monkeypatch.setattr(hdf5_heaps, "MAX_BLOCKS", 7)
    with damage("an implausibly large heap"):
        Heap(laid(raw), 0).object(place(0, 1))
    monkeypatch.setattr(hdf5_heaps, "MAX_BLOCKS", 8)
    monkeypatch.setattr(hdf5_heaps, "MAX_DEPTH", 1)
    with damage("an implausibly large heap"):
        Heap(laid(raw), 0).object(place(0, 1))


def test_objects_by_themselves() -> None:
    """Objects too large for a block are found by number in a tree of address, length and number."""
    record = number(200 + START) + number(4) + number(7)
    made = tree(leaf(number(0) + number(0) + number(6), record), node_size=64, width=24)
    moved = made[:16] + number(START + 38) + made[24:]
    raw = fractal(huge=START) + moved
    raw += bytes(200 + START - len(raw)) + b"huge"
    heap = Heap(laid(raw), 0)
    assert heap.object(b"\x10" + number(7)) == b"huge"
    with damage("an object missing from its heap"):
        heap.object(b"\x10" + number(8))


# --- messages ---------------------------------------------------------------------------------


def found(raw: bytes) -> list[Part]:
    return list(walk.parts(lambda at, length: raw[at : at + length], len(raw)))


def read(kind: str, body: bytes, raw: bytes = b"", **layout: int) -> tuple[list[Part], list[int]]:
    """The content of one message of an object, and its targets."""
    each = walk._Object(laid(raw, **layout), 0)
    return list(getattr(each, kind)(body)), each.inner


@pytest.mark.parametrize(
    ("body", "parts", "inner"),
    [
        (b"\1\0\1a" + number(77), [], [77]),
        (b"\1\x08\0\1a" + number(77), [], [77]),
        (b"\1\x14" + bytes(8) + b"\0\1a" + number(77), [], [77]),
        (b"\1\x01\1\0a" + number(77), [], [77]),
        (b"\1\x08\1\1a" + b"\3\0to\0", [], []),
        (b"\1\x08\x40\1a" + b"\7\0\0b.h5\0/x\0", [Elsewhere("an external link", "b.h5")], []),
        (b"\1\x08\x41\1a", [Unread("a user-defined link, of type 65")], []),
    ],
)
def test_links(body: bytes, parts: list[Part], inner: list[int]) -> None:
    """IV.A.2.g: version, flags, and by these the kind, the order, the charset, and the size of the name's length."""
    assert read("_link", body) == (parts, inner)


def test_data_elsewhere() -> None:
    """IV.A.2.h, IV.A.2.i."""
    heap = b"HEAP" + bytes(4) + number(12) + bytes(8) + number(32) + b"one.raw\0two\0"
    slots = number(0) + bytes(16) + number(8) + bytes(16)
    external = bytes(6) + number(2, 2) + number(0) + slots
    assert read("_stored_elsewhere", external, heap)[0] == [
        Elsewhere("a dataset whose bytes are stored", "one.raw"),
        Elsewhere("a dataset whose bytes are stored", "two"),
    ]
    entry = b"\0" + number(1) + b"v.h5\0/x\0"
    values = b"GCOL" + bytes(4) + number(64) + number(3, 2) + bytes(6) + number(len(entry)) + entry + bytes(24)
    virtual = b"\4\3" + number(0) + number(3, 4)
    assert read("_virtual", virtual, values)[0] == [Elsewhere("a virtual dataset, made of what is", "v.h5")]
    assert read("_virtual", b"\5" + virtual[1:], values)[0] == [Elsewhere("a virtual dataset, made of what is", "v.h5")]
    assert read("_virtual", b"\3" + virtual[1:], values)[0] == []
    assert read("_virtual", b"\4\2" + virtual[2:], values)[0] == []


def test_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """IV.A.2.m: version, and the sizes of name, type and shape, which the first version pads."""

    def attribute(version: int, kind: int, value: bytes, name: bytes = b"name\0") -> bytes:
        sizes = number(len(name), 2) + number(8, 2) + number(4, 2)
        parts = [name, bytes((kind,)) + bytes(7), bytes(4)]
        padded = [each + bytes(-len(each) % 8) for each in parts] if version == 1 else parts
        return bytes((version, 0)) + sizes + (b"\0" if version == 3 else b"") + b"".join(padded) + value

    for version in (1, 2, 3):
        assert read("_attribute", attribute(version, 0x13, b"text\0\0")) == ([Attribute("name", b"text")], [])
        assert read("_attribute", attribute(version, 0x11, b"\1\0"))[0] == [Attribute("name", b"\1\0")]
    entry = b"of any length"
    heap = b"GCOL" + bytes(4) + number(64) + number(3, 2) + bytes(6) + number(len(entry)) + entry + bytes(24)
    texts = b"".join(number(13, 4) + number(0) + number(index, 4) for index in (3, 0, 3)) + b"rest"
    assert read("_attribute", attribute(3, 0x19, texts), heap)[0] == [Attribute("name", entry * 2)]
    none = number(13, 4) + NONE + number(3, 4)
    assert read("_attribute", attribute(3, 0x19, none), heap)[0] == [Attribute("name", b"")]
    monkeypatch.setattr(walk, "MAX_ATTRIBUTE", 4)
    assert read("_attribute", attribute(1, 0x11, b"12345"))[0] == [
        Attribute("name", b"1234"),
        Unread("an implausibly long attribute"),
    ]


def test_tables_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """III.A.1, III.B: a tree of tables; a soft link, of kind 2, has no object."""

    def node(*children: int) -> bytes:
        return (
            b"TREE"
            + bytes(2)
            + number(len(children), 2)
            + bytes(16)
            + bytes(8)
            + b"".join(number(each) + bytes(8) for each in children)
        )

    def table(*links: tuple[int, int]) -> bytes:
        return (
            b"SNOD"
            + bytes(2)
            + number(len(links), 2)
            + b"".join(bytes(8) + number(to) + number(kind, 4) + bytes(20) for to, kind in links)
        )

    top = node(64, 200)
    raw = top + bytes(64 - len(top)) + table((700, 0), (701, 2), (702, 1))
    raw += bytes(200 - len(raw)) + node(300)
    raw += bytes(300 - len(raw)) + table((703, 0)) + bytes(9)
    assert read("_table", number(0), raw) == ([], [700, 702, 703])
    with damage("a group without its table"):
        read("_table", number(1), raw)
    monkeypatch.setattr(walk, "MAX_LEVELS", 2)
    with damage("an implausibly large group table"):
        read("_table", number(0), raw)
    monkeypatch.setattr(walk, "MAX_LEVELS", 3)
    monkeypatch.setattr(walk, "MAX_NODES", 2)
    with damage("an implausibly large group table"):
        read("_table", number(0), raw)


def message(kind: int, body: bytes, flags: int = 0) -> bytes:
    return number(kind, 2) + number(len(body), 2) + bytes((flags,)) + bytes(3) + body


def header(*messages: bytes) -> bytes:
    """IV.A.1.a: an object's header of the first version."""
    body = b"".join(messages)
    return b"\1\0" + number(len(messages), 2) + bytes(4) + number(len(body), 4) + bytes(4) + body


def newer(*messages: tuple[int, bytes], flags: int = 0) -> bytes:
    """IV.A.1.b: a header of the second version, whose length is as wide as the flags say."""
    ahead = b"\0\0" if flags & 4 else b""
    body = b"".join(bytes((kind,)) + number(len(data), 2) + b"\0" + ahead + data for kind, data in messages)
    extra = bytes(16 * bool(flags & 0x20) + 4 * bool(flags & 0x10))
    return b"OHDR\2" + bytes((flags,)) + extra + number(len(body), 1 << (flags & 3)) + body


LINK = b"\1\x08\x40\1a\7\0\0b.h5\0/x\0"


def of(raw: bytes) -> list[Part]:
    return list(walk._Object(laid(raw), 0).parts())


def test_headers_of_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Elsewhere("an external link", "b.h5")
    assert of(header(message(6, LINK), message(1, b"other"), message(6, LINK)) + b"x") == [link, link]
    for flags in (0, 1, 2, 3, 4, 0x10, 0x20, 0x35):
        assert of(newer((6, LINK), (1, b"other"), (6, LINK), flags=flags) + b"x") == [link, link]
    assert of(header(message(6, LINK, flags=2))) == [Unread("a message stored elsewhere")]
    assert of(header(message(6, b"\1"))) == [Unread("a truncated message")]
    assert of(header(message(6, LINK)) + message(6, LINK)) == [link]  # beyond its bytes
    whole = header(message(6, LINK))
    assert of(whole[:8] + number(len(whole) - 17, 4) + whole[12:]) == []  # a gap
    with damage("an object without a header"):
        of(b"\2" + whole[1:])
    further = header(message(16, number(100) + number(len(message(6, LINK)))))
    assert of(further + bytes(100 - len(further)) + message(6, LINK)) == [link]
    chunk = b"OCHK" + newer((6, LINK))[7:] + bytes(4)
    more = newer((16, number(100) + number(len(chunk))))
    assert of(more + bytes(100 - len(more)) + chunk) == [link]
    itself = header(message(16, number(16) + number(24)))
    monkeypatch.setattr(walk, "MAX_CHUNKS", 5)
    with damage("an object header in implausibly many pieces"):
        of(itself)
    monkeypatch.setattr(walk, "MAX_MESSAGES", 3)
    assert of(header(message(6, LINK), message(6, LINK))) == [link, link]
    with damage("an object with implausibly many messages"):
        of(header(*[message(1, b"")] * 4))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((8, b"\4"), "a superblock of version 4"),
        ((13, b"\3"), "addresses of an invalid width"),
        ((14, b"\0"), "addresses of an invalid width"),
    ],
)
def test_superblocks(change: tuple[int, bytes], why: str) -> None:
    """II.A; the second version stores the widths, and the root, elsewhere."""
    raw = hdf5({"a": b"b"})
    at, value = change
    assert found(raw[:at] + value + raw[at + 1 :]) == [Unread(why)]
    assert found(b"text") == [Unread("not an HDF5 file")]
    assert found(bytes(512) + raw) == [Attribute("a", b"b")]
    assert found(bytes(511) + raw) == [Unread("not an HDF5 file")]
    second = raw[:8] + b"\2\x08\x08\0" + bytes(24) + number(48) + bytes(4) + header(message(6, LINK))
    for version in (2, 3):
        own = second[:8] + bytes((version,)) + second[9:]
        assert found(own) == [Elsewhere("an external link", "b.h5")]


def test_as_many_objects_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    link = b"\1\0\1a"
    root = header(message(6, link + number(300)), message(6, link + number(400)))
    raw = hdf5()[:96] + root
    raw += bytes(300 - len(raw)) + header(message(6, LINK))
    raw += bytes(400 - len(raw)) + b"\5" + bytes(20)
    reported = [Elsewhere("an external link", "b.h5"), Unread("an object without a header")]
    assert sorted(found(raw), key=repr) == sorted(reported, key=repr)
    monkeypatch.setattr(walk, "MAX_OBJECTS", 3)
    assert len(found(raw)) == 2
    monkeypatch.setattr(walk, "MAX_OBJECTS", 2)
    assert found(raw) == [Unread("implausibly many objects")]
