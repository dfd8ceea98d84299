"""Flax's MessagePack, byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from every import every
from in_memory import Bytes, refused

from inspector.formats import flax
from inspector.model import Finding, Piece, Region

if TYPE_CHECKING:
    import pytest


def text(word: str) -> bytes:
    return bytes((0xA0 | len(word),)) + word.encode()


def binary(data: bytes) -> bytes:
    return b"\xc4" + bytes((len(data),)) + data


def array(shape: tuple[int, ...], word: str, data: bytes, code: int = 1, *, stated: int = 0) -> bytes:
    """Flax's extension: a document of shape, dtype and bytes."""
    inner = b"\x93" + bytes((0x90 | len(shape), *shape)) + text(word) + binary(data)
    return b"\xc7" + bytes((len(inner) + stated, code)) + inner


def test_arrays_of_flax() -> None:
    """Names from the keys, offsets of the bytes; other values are skipped."""
    raw = (
        b"\x83"
        + text("a") + array((2, 3), "float32", bytes(24))
        + text("b") + b"\x82" + text("c") + array((), "int8", b"\1", code=3) + b"\x07" + array((2,), "bfloat16", bytes(4))
        + text("d") + b"\x92" + text("text") + array((1,), "odd", bytes(5))
    )  # fmt: skip
    header = flax.read(Bytes(raw), "m.msgpack")
    assert (header.path, header.format, header.size, header.findings, header.metadata) == (
        "m.msgpack",
        "flax",
        len(raw),
        (),
        {},
    )
    assert [(each.name, each.dtype, each.shape, each.nbytes) for each in header.tensors] == [
        ("a", "F32", (2, 3), 24),
        ("b.c", "I8", (), 1),
        ("b.7", "BF16", (2,), 4),
        ("d.1", "odd", (1,), 5),
    ]
    assert (header.strides, header.pieces) == ({}, {})
    assert raw[header.tensors[1].offset : header.tensors[1].offset + 1] == b"\1"
    assert header.regions[0] == Region("header", 0, header.tensors[0].offset)


@every(
    ("raw", "kind", "length", "code", "number"),
    [
        (b"\x00", "number", 0, 0, 0),
        (b"\x7f", "number", 0, 0, 127),
        (b"\xe0", "number", 0, 0, -32),
        (b"\xff", "number", 0, 0, -1),
        (b"\x80", "map", 0, 0, 0),
        (b"\x8f", "map", 15, 0, 0),
        (b"\x90", "array", 0, 0, 0),
        (b"\x9f", "array", 15, 0, 0),
        (b"\xa0", "text", 0, 0, 0),
        (b"\xbf", "text", 31, 0, 0),
        (b"\xc0", "nothing", 0, 0, 0),
        (b"\xc2", "nothing", 0, 0, 0),
        (b"\xc3", "nothing", 0, 0, 1),
        (b"\xc4\x81", "bytes", 129, 0, 0),
        (b"\xc5\x01\x02", "bytes", 258, 0, 0),
        (b"\xc6\0\1\0\2", "bytes", 65538, 0, 0),
        (b"\xc7\x81\5", "extension", 129, 5, 0),
        (b"\xc8\1\2\5", "extension", 258, 5, 0),
        (b"\xc9\0\1\0\2\5", "extension", 65538, 5, 0),
        (b"\xca\0\0\0\0", "number", 0, 0, 0),
        (b"\xcb\0\0\0\0\0\0\0\0", "number", 0, 0, 0),
        (b"\xcc\xff", "number", 0, 0, 255),
        (b"\xcd\1\2", "number", 0, 0, 258),
        (b"\xce\0\1\0\2", "number", 0, 0, 65538),
        (b"\xcf\0\0\0\0\0\1\0\2", "number", 0, 0, 65538),
        (b"\xd0\xff", "number", 0, 0, -1),
        (b"\xd1\xff\xfe", "number", 0, 0, -2),
        (b"\xd2\xff\xff\xff\xfe", "number", 0, 0, -2),
        (b"\xd3\xff\xff\xff\xff\xff\xff\xff\xfe", "number", 0, 0, -2),
        *((bytes((0xD4 + power, 5)), "extension", 1 << power, 5, 0) for power in range(5)),
        (b"\xd9\x81", "text", 129, 0, 0),
        (b"\xda\1\2", "text", 258, 0, 0),
        (b"\xdb\0\1\0\2", "text", 65538, 0, 0),
        (b"\xdc\1\2", "array", 258, 0, 0),
        (b"\xdd\0\1\0\2", "array", 65538, 0, 0),
        (b"\xde\1\2", "map", 258, 0, 0),
        (b"\xdf\0\1\0\2", "map", 65538, 0, 0),
    ],
)
def test_values_of_messagepack(raw: bytes, kind: str, length: int, code: int, number: int) -> None:
    """https://github.com/msgpack/msgpack/blob/master/spec.md: every first byte, and what follows it."""
    cursor = flax._Cursor(Bytes(raw + b"x"))
    assert flax._next_token(cursor) == (kind, length, code, number)
    assert cursor.at == len(raw)


FLAX = "P cannot be read as Flax's MessagePack: "
ENDS = ("truncated", FLAX + "it ends in the middle of a value")


@every(
    ("raw", "rule", "what"),
    [
        (b"\x93", "unreadable-file", "it does not begin with a map"),
        (b"\x81" + text("a"), *ENDS),
        (b"\x81\xa5ab", *ENDS),
        (b"\x81" + text("a") + b"\xc4\x05ab", *ENDS),
        (b"\x81" + text("a") + b"\xcb\0\0", *ENDS),
        (b"\x81" + text("a") + b"\xc1", "unreadable-file", "a byte that cannot begin a value"),
        (b"\x81\xc0", "unreadable-file", "a key that is not text"),
        (b"\x81\xda\x10\x01" + bytes(4097), "unreadable-file", "a key that is not text"),
        (b"\x81" + text("a") + b"\xc7\1\1\x92", "unreadable-file", "an array that does not have three parts"),
        (b"\x81" + text("a") + b"\xc7\2\1\x93\x01", "unreadable-file", "an array without a shape"),
        (b"\x81" + text("a") + b"\xc7\2\1\x93\xdc\0\x41", "unreadable-file", "an array without a shape"),
        (b"\x81" + text("a") + array((4,), "float32", bytes(15)), "unreadable-file", "an array with more or fewer bytes than its shape takes"),
        (b"\x81" + text("a") + array((4,), "float32", bytes(16), stated=1) + b"x", "unreadable-file", "an array whose length is not the stated one"),
        (b"\x81" + text("a") + array((0xFF,), "int8", b""), "unreadable-file", "an array without bytes or with an invalid shape"),
        (b"\x81" + text("a") + b"\xc7\x09\1\x93\x91\1" + text("int8") + b"\1", "unreadable-file", "an array without bytes or with an invalid shape"),
        (b"\x81\x01" * 70, "unreadable-file", "too many values, or too deeply nested"),
    ],
)  # fmt: skip
def test_damaged_trees(raw: bytes, rule: str, what: str) -> None:
    assert refused(flax.read, raw) == (rule, what if what.startswith(FLAX) else FLAX + what)


def test_trees_as_deep_and_as_large_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = b"\x81\x01" * 64 + b"\x00"
    assert list(flax.read(Bytes(deep), "a").tensors) == []
    monkeypatch.setattr(flax, "MAX_VALUES", 3)
    assert list(flax.read(Bytes(b"\x82\1\1\2\2"), "a").tensors) == []
    assert refused(flax.read, b"\x83\1\1\2\2\3\3") == (
        "unreadable-file",
        FLAX + "too many values, or too deeply nested",
    )


def test_bytes_after_a_tree() -> None:
    header = flax.read(Bytes(b"\x80ab"), "a.msgpack")
    what = "2 bytes after the end of the contents, from byte 1: no reader uses them"
    assert header.findings == (Finding("trailing", "warning", what, "a.msgpack"),)


def test_chunks_of_an_array() -> None:
    """`{"a": {"__msgpack_chunked_array__": true, "shape": {"0": 4, "1": 1}, "chunks": {"0": …, "1": …}}}`"""
    chunks = b"\x82\xa10" + array((3,), "int8", bytes(3)) + b"\xa11" + array((1,), "int8", bytes(1))
    split = b"\x83" + text("mark") + b"\xc3" + text("shape") + b"\x82\xa10\4\xa11\1" + text("chunks") + chunks
    header = flax.read(Bytes(b"\x82" + text("a") + split + text("b") + array((2,), "int8", bytes(2))), "x")
    assert [(each.name, each.shape) for each in header.tensors] == [("a", (3,)), ("a", (1,)), ("b", (2,))]
    assert header.pieces == {0: Piece((0,), (4, 1)), 1: Piece((3,), (4, 1))}


def test_keys_beyond_a_window() -> None:
    """Values that cross the boundary of a read."""
    filler = text("pad") + b"\xc5\x0f\xf0" + bytes(4080)
    raw = b"\x83" + filler + text("keys") + array((2,), "float16", b"abcd") + b"\xda\x10\x00" + b"k" * 4096 + b"\xc0"
    (tensor,) = flax.read(Bytes(raw), "x").tensors
    assert (tensor.name, raw[tensor.offset :][:4]) == ("keys", b"abcd")
