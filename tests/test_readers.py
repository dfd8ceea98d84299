"""Readers of Flax's, NumPy's and HDF5's files and of ZIP archives, and what formats share, byte by byte."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import pytest

from inspector import formats
from inspector.errors import FormatError
from inspector.formats import decoding, flax, hdf5, numpy, training, zips
from inspector.formats.findings import Findings
from inspector.formats.layout import around
from inspector.model import Finding, Header, Piece, Region, Tensor
from inspector.units import escape


class Bytes:
    """A source in memory, which gives no byte that was not asked for."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.size, self.bytes_read = raw, len(raw), 0

    def read(self, offset: int, length: int) -> bytes:
        assert 0 <= offset <= offset + length <= self.size
        return self.raw[offset : offset + length]

    def prefix(self, length: int) -> memoryview:
        return memoryview(self.raw)[:length]

    def close(self) -> None:
        """Nothing to close."""


def refused(read: Callable[[Any, str], object], raw: bytes, path: str = "a\n.x") -> tuple[str, str]:
    """Rule and message of a file that cannot be read, its path as `P`."""
    with pytest.raises(FormatError) as caught:
        read(Bytes(raw), path)
    assert "\n" not in str(caught.value)
    return caught.value.rule, str(caught.value).replace(escape(path), "P")


# --- Flax -------------------------------------------------------------------------------------


def text(word: str) -> bytes:
    return bytes((0xA0 | len(word),)) + word.encode()


def binary(data: bytes) -> bytes:
    return b"\xc4" + bytes((len(data),)) + data


def array(shape: tuple[int, ...], word: str, data: bytes, code: int = 1, *, stated: int = 0) -> bytes:
    """Flax's extension: a document of shape, dtype and bytes."""
    inner = b"\x93" + bytes((0x90 | len(shape), *shape)) + text(word) + binary(data)
    return b"\xc7" + bytes((len(inner) + stated, code)) + inner


def test_arrays_of_flax() -> None:
    """Names from the keys, places of the bytes; what is no array is passed over."""
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


@pytest.mark.parametrize(
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
    assert flax._value(cursor) == (kind, length, code, number)
    assert cursor.at == len(raw)


FLAX = "P cannot be read as Flax's MessagePack: "
ENDS = ("truncated", FLAX + "it ends in the middle of a value")


@pytest.mark.parametrize(
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
    what = "2 bytes after the tree of parameters"
    assert header.findings == (Finding("trailing", "warning", what, "a.msgpack"),)


def test_chunks_of_an_array() -> None:
    """`{"a": {"__msgpack_chunked_array__": true, "shape": {"0": 4, "1": 1}, "chunks": {"0": …, "1": …}}}`"""
    chunks = b"\x82\xa10" + array((3,), "int8", bytes(3)) + b"\xa11" + array((1,), "int8", bytes(1))
    split = b"\x83" + text("mark") + b"\xc3" + text("shape") + b"\x82\xa10\4\xa11\1" + text("chunks") + chunks
    header = flax.read(Bytes(b"\x82" + text("a") + split + text("b") + array((2,), "int8", bytes(2))), "x")
    assert [(each.name, each.shape) for each in header.tensors] == [("a", (3,)), ("a", (1,)), ("b", (2,))]
    assert header.pieces == {0: Piece((0,), (4, 1)), 1: Piece((3,), (4, 1))}


def test_keys_beyond_a_window() -> None:
    """Values that lie across what is read at once."""
    filler = text("pad") + b"\xc5\x0f\xf0" + bytes(4080)
    raw = b"\x83" + filler + text("keys") + array((2,), "float16", b"abcd") + b"\xda\x10\x00" + b"k" * 4096 + b"\xc0"
    (tensor,) = flax.read(Bytes(raw), "x").tensors
    assert (tensor.name, raw[tensor.offset :][:4]) == ("keys", b"abcd")


# --- NumPy ------------------------------------------------------------------------------------


def described(
    descr: str = "'<f4'", shape: str = "(3,)", fortran: bool = False, version: int = 1, *, after: str = ", "
) -> bytes:
    """An array's header as NumPy writes it."""
    line = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}{after}}}\n".encode()
    width = 2 if version == 1 else 4
    return b"\x93NUMPY" + bytes((version, 0)) + len(line).to_bytes(width, "little") + line


@pytest.mark.parametrize(
    ("head", "dtype", "shape", "nbytes"),
    [
        (described(), "F32", (3,), 12),
        (described(version=2), "F32", (3,), 12),
        (described(version=3), "F32", (3,), 12),
        (described(after=""), "F32", (3,), 12),
        (described("'>f8'", "(2, 3)"), "F64", (2, 3), 48),
        (described("'|b1'", "()"), "BOOL", (), 1),
        (described("'?'", "(2,)"), "BOOL", (2,), 2),
        (described("'<u2'", "(2,)"), "U16", (2,), 4),
        (described("'|i1'", "(0, 5)"), "I8", (0, 5), 0),
        (described("'<c8'", "(2,)"), "C64", (2,), 16),
        (described("'<U5'", "(2,)"), "U5", (2,), 40),
        (described("'|S7'", "(2,)"), "S7", (2,), 14),
        (described("'<M8[ns]'", "(2,)"), "M8[ns]", (2,), 16),
    ],
)
def test_headers_of_arrays(head: bytes, dtype: str, shape: tuple[int, ...], nbytes: int) -> None:
    header = numpy.read(Bytes(head + bytes(nbytes)), "d/x.npy")
    assert header.tensors == [Tensor("x", dtype, shape, len(head), nbytes)]
    assert header.strides == {}
    assert (header.path, header.format, header.size) == ("d/x.npy", "numpy", len(head) + nbytes)
    big = Finding("big-endian", "info", "its numbers are big-endian", "d/x.npy", "x")
    assert header.findings == ((big,) if b"'>" in head else ())


def test_columns_before_rows() -> None:
    head = described(shape="(2, 3, 4)", fortran=True)
    assert numpy.read(Bytes(head + bytes(96)), "x.npy").strides == {0: (1, 2, 6)}
    assert numpy.read(Bytes(described(fortran=True) + bytes(12)), "x.npy").strides == {}


def test_a_header_longer_than_what_is_read_first() -> None:
    """NumPy pads it; up to 10,000 bytes are read."""
    line = described()[10:].rstrip() + b" " * 900 + b"\n"
    head = b"\x93NUMPY\1\0" + len(line).to_bytes(2, "little") + line
    assert numpy.read(Bytes(head + bytes(12)), "x.npy").tensors[0].offset == len(head)
    long = described()[10:].rstrip() + b" " * 10_000
    head = b"\x93NUMPY\1\0" + len(long).to_bytes(2, "little") + long
    assert refused(numpy.read, head) == ("unreadable-file", NO_NUMBERS + "a header longer than NumPy reads")


NO_NUMBERS = "P does not hold an array of numbers: "


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"\x93NUMPY\1\0\0", "it does not begin like one"),
        (described("'|O'"), "objects, which are pickled"),
        (described("'|O8'"), "objects, which are pickled"),
        (described("[('a', '<f4')]"), "records, or a damaged header"),
        (described()[:60], "records, or a damaged header"),
        (described(shape="(" + "1, " * 65 + ")"), "an impossible shape"),
        (described(shape=f"({2**63},)"), "an impossible shape"),
    ],
)
def test_what_is_no_array_of_numbers(raw: bytes, what: str) -> None:
    assert refused(numpy.read, raw) == ("unreadable-file", NO_NUMBERS + what)


def test_an_array_that_is_cut_off() -> None:
    head = described()
    header = numpy.read(Bytes(head + bytes(5)), "x.npy")
    assert header.tensors[0].nbytes == 5
    assert header.findings == (
        Finding("truncated", "error", "7 bytes of its numbers are beyond the end", "x.npy", "x"),
    )
    assert header.regions == (Region("header", 0, len(head)), Region("tensors", len(head), len(head) + 5))


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def test_archives_of_arrays() -> None:
    own = {
        "d/a.npy": described() + bytes(12),
        "b.npy": described("'>f4'", "(2, 2)", fortran=True) + bytes(16),
        "c.txt": b"x",
    }
    raw = zipped(own)
    header = numpy.read(Bytes(raw), "x.npz")
    assert [(each.name, each.shape, each.nbytes) for each in header.tensors] == [("d.a", (3,), 12), ("b", (2, 2), 16)]
    assert all(raw[each.offset - 1 : each.offset] == b"\n" for each in header.tensors)
    assert header.strides == {1: (1, 2)}
    assert (header.path, header.format, header.size) == ("x.npz", "numpy", len(raw))
    assert header.findings == (Finding("big-endian", "info", "its numbers are big-endian", "x.npz", "b"),)
    assert {region.label for region in header.regions} == {"archive", "tensors"}


def test_archives_with_what_is_no_array() -> None:
    """A pickle, a record shorter than its numbers, compressed ones."""
    own = {"o.npy": described("'|O'"), "s.npy": described() + bytes(7), "t.npy": b"text that is none"}
    header = numpy.read(Bytes(zipped(own)), "x.npz")
    assert header.findings == (
        Finding("tensor-entry", "warning", "not an array of numbers: objects, which are pickled", "x.npz", "o"),
        Finding("storage", "error", "its numbers end 5 bytes beyond its record", "x.npz", "s"),
        Finding("tensor-entry", "warning", "not an array of numbers: it does not begin like one", "x.npz", "t"),
    )
    assert [(each.name, each.nbytes) for each in header.tensors] == [("s", 7)]
    packed = numpy.read(Bytes(zipped({"a.npy": described() + bytes(12)}, zipfile.ZIP_DEFLATED)), "x.npz")
    what = "compressed: its bytes are counted as stored in the archive"
    assert packed.findings == (Finding("view", "info", what, "x.npz", "a"),)
    assert [(each.name, each.shape) for each in packed.tensors] == [("a", (3,))]
    assert refused(numpy.read, zipped({"a.txt": b"x"})) == (
        "not-weights",
        "P is a ZIP archive, but not NumPy's: it has no .npy file",
    )
    assert refused(numpy.read, b"PK\3\4") == (
        "truncated",
        "P begins as a ZIP archive, and its list of members is missing: the file is truncated, or not a ZIP archive",
    )
    line = described()[10:].rstrip() + b" " * 900 + b"\n"
    long = b"\x93NUMPY\1\0" + len(line).to_bytes(2, "little") + line + bytes(12)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        assert numpy.read(Bytes(zipped({"a.npy": long}, method)), "x.npz").tensors[0].shape == (3,)


# --- HDF5 -------------------------------------------------------------------------------------


def keras(write: Callable[[h5py.File], object]) -> bytes:
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        write(file)
    return out.getvalue()


def read(raw: bytes, path: str = "x.h5") -> Header:
    return hdf5.read(Bytes(raw), path)


def test_datasets_of_every_kind() -> None:
    def write(file: h5py.File) -> None:
        file["g/kernel:0"] = np.arange(6, dtype="<f4").reshape(2, 3)
        file["g/deep/b"] = np.arange(2, dtype="<i8")
        file["big"] = np.arange(2, dtype=">f8")
        file["flags"] = np.array([True, False])
        file["complex"] = np.zeros(2, "<c8")
        file["text"] = "not numbers"
        file.create_dataset("never", (4, 2), "<f2")
        file.create_dataset("nothing", (0,), "<f2")
        file.create_dataset("chunks", (4, 6), "u1", np.zeros((4, 6), "u1"), chunks=(2, 3))
        file["again"] = file["g"]

    raw = keras(write)
    header = read(raw)
    found = {each.name: (each.dtype, each.shape, each.nbytes) for each in header.tensors}
    assert found == {
        "g.kernel": ("F32", (2, 3), 24), "g.deep.b": ("I64", (2,), 16), "big": ("F64", (2,), 16), "flags": ("BOOL", (2,), 2),
        "complex": ("C64", (2,), 16), "never": ("F16", (4, 2), 0), "nothing": ("F16", (0,), 0), "chunks": ("U8", (4, 6), 24),
    } or found == {  # the group under its other name
        **{name.replace("g.", "again."): own for name, own in found.items()}
    }  # fmt: skip
    at = next(each for each in header.tensors if each.dtype == "I64").offset
    assert raw[at : at + 16] == np.arange(2, dtype="<i8").tobytes()
    assert {(each.rule, each.severity, each.message, each.path, each.tensor) for each in header.findings} == {
        ("big-endian", "info", "its numbers are big-endian", "x.h5", "big"),
        ("storage", "warning", "8 elements that were never written", "x.h5", "never"),
        ("view", "info", "stored in chunks of 2×3", "x.h5", "chunks"),
    }
    assert header.bytes_in("tensors") == sum(each.nbytes for each in header.tensors)
    assert (header.path, header.format, header.size) == ("x.h5", "hdf5", len(raw))
    never = next(each for each in header.tensors if each.name == "never")
    assert (never.offset, never.nbytes) == (0, 0)


def test_numbers_in_other_files() -> None:
    def write(file: h5py.File) -> None:
        file["away"] = h5py.ExternalLink("other.h5", "/x")
        file.create_dataset("raw", (4,), "<f4", external=[("raw.bin", 0, 16)])

    header = read(keras(write))
    assert [(each.name, each.shape, each.nbytes, each.offset) for each in header.tensors] == [("raw", (4,), 0, 0)]
    assert [(each.rule, each.severity, each.message, each.tensor) for each in header.findings] == [
        ("index-path", "warning", "a link to 'other.h5': not followed", "away"),
        ("index-path", "warning", "its numbers are in 'raw.bin': not read", "raw"),
    ]


def test_weights_within_an_archive() -> None:
    inner = keras(lambda file: file.create_dataset("a", data=np.arange(3, dtype="<f4")))
    raw = zipped({"config.json": b"{}", "model.weights.h5": inner})
    header = read(raw, "x.keras")
    (tensor,) = header.tensors
    assert raw[tensor.offset : tensor.offset + 12] == np.arange(3, dtype="<f4").tobytes()
    assert {region.label for region in header.regions} == {"archive", "tensors"}
    assert refused(hdf5.read, zipped({"config.json": b"{}"})) == (
        "not-weights",
        "P has no uncompressed model.weights.h5",
    )
    packed = zipped({"model.weights.h5": inner}, zipfile.ZIP_DEFLATED)
    assert refused(hdf5.read, packed) == ("not-weights", "P has no uncompressed model.weights.h5")
    missing = "its list of members is missing: the file is truncated, or not a ZIP archive"
    assert refused(hdf5.read, b"PK\3\4") == ("truncated", f"P begins as a ZIP archive, and {missing}")
    rule, message = refused(hdf5.read, inner[:600])
    assert (rule, message[:30]) == ("unreadable-file", "P cannot be read as HDF5: Unab")


def test_what_h5py_asks_for() -> None:
    """Reads over several blocks, of which the last is shorter."""
    raw = bytes(range(251)) * 800
    reader = hdf5._Reader(Bytes(b"head" + raw + b"tail"), 4, len(raw))
    reader.seek(100)
    assert reader.read(190_000) == raw[100:190_100]
    assert reader.tell() == 190_100
    assert reader.seek(-5, io.SEEK_END) == len(raw) - 5
    assert reader.seek(1, io.SEEK_CUR) == len(raw) - 4
    assert (reader.read(9), reader.read(9)) == (raw[-4:], b"")
    assert (reader.readable(), reader.seekable()) == (True, True)


def test_more_datasets_than_any_model_has(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = keras(lambda file: [file.create_dataset(name, data=np.zeros(1, "<f4")) for name in "abc"])
    monkeypatch.setattr(hdf5, "MAX_DATASETS", 3)
    assert len(read(raw).tensors) == 3
    monkeypatch.setattr(hdf5, "MAX_DATASETS", 2)
    what = "P cannot be read as HDF5: more datasets than any model has"
    assert refused(hdf5.read, raw) == ("unreadable-file", what)


def test_an_hdf5_file_across_blocks() -> None:
    """Larger than what is read at once, with objects on either side of each boundary."""
    raw = keras(lambda file: [file.create_dataset(f"d{at}", data=np.full(9000, at, "<f8")) for at in range(9)])
    header = read(raw)
    assert len(header.tensors) == 9
    for each in header.tensors:
        assert raw[each.offset :][:8] == np.array(float(each.name[1:]), "<f8").tobytes()


# --- ZIP --------------------------------------------------------------------------------------


def listed(raw: bytes) -> list[zips.Member]:
    return zips.members(lambda at, length: raw[at : at + length], len(raw))


def test_members_as_zipfile_lists_them() -> None:
    """Names in both encodings, sizes, methods, places; also behind other bytes, and before a comment."""
    raw = zipped({"a": b"x" * 50, "größe": b"y"}, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        own = [
            (each.filename, each.compress_type, each.compress_size, each.file_size, each.header_offset)
            for each in file.infolist()
        ]
    for shift, data in ((0, raw), (7, b"garbage" + raw)):
        found = [(each.name, each.method, each.compressed, each.size, each.header - shift) for each in listed(data)]
        assert found == own
        assert not any(each.encrypted for each in listed(data))
    comment = raw[:-2] + (5000).to_bytes(2, "little") + b"c" * 5000
    assert [each.name for each in listed(comment)] == ["a", "größe"]
    central = raw.index(b"PK\1\2")
    flagged = raw[: central + 8] + b"\1" + raw[central + 9 :]
    assert [each.encrypted for each in listed(flagged)] == [True, False]
    flagless = raw[: central + 8] + b"\0\0" + raw[central + 10 : central + 46] + b"\x81" + raw[central + 47 :]
    assert listed(flagless)[0].name == "ü"  # code page 437
    assert zips.looks_like_zip(lambda at, length: raw[at : at + length], len(raw))
    assert not zips.looks_like_zip(lambda at, length: raw[at : at + length], len(raw) - 30)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda raw: raw[:-10], "its list of members is missing: the file is truncated, or not a ZIP archive"),
        (lambda raw: raw[:-10] + (40 << 20).to_bytes(4, "little") + raw[-6:], "its list of members does not lie within the file"),
        (lambda raw: raw[:-6] + (1 << 20).to_bytes(4, "little") + raw[-2:], "its list of members does not lie within the file"),
        (lambda raw: raw.replace(b"PK\1\2", b"PK\1\3", 1), "its list of members is damaged"),
        (lambda raw: raw[:-2] + (22).to_bytes(2, "little") + raw[-22:], "it ends twice: readers differ in which list of members they use"),
    ],
)  # fmt: skip
def test_damaged_lists(change: Callable[[bytes], bytes], what: str) -> None:
    with pytest.raises(zips.ZipError) as caught:
        listed(change(zipped({"a": b"x", "b": b"y"})))
    assert str(caught.value) == what


def test_a_list_that_is_longer_than_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MAX_MEMBERS", 2)
    assert len(listed(zipped({"a": b"x", "b": b"y"}))) == 2
    with pytest.raises(zips.ZipError, match="damaged or too long"):
        listed(zipped({"a": b"x", "b": b"y", "c": b"z"}))


@pytest.mark.parametrize(
    ("extra", "values", "found"),
    [
        (b"", (1, 2, 3), (1, 2, 3)),
        (struct.pack("<2HQ", 1, 8, 5), (1 << 32, 2, 3), (1 << 32, 2, 3)),
        (struct.pack("<2HQ", 1, 8, 5), (0xFFFFFFFF, 2, 3), (5, 2, 3)),
        (struct.pack("<2H2Q", 1, 16, 5, 6), (0xFFFFFFFF, 2, 0xFFFFFFFF), (5, 2, 6)),
        (struct.pack("<2HQ", 1, 8, 5), (0xFFFFFFFF, 0xFFFFFFFF, 3), (5, 0xFFFFFFFF, 3)),
        (struct.pack("<2H2Q", 1, 8, 5, 6), (0xFFFFFFFF, 0xFFFFFFFF, 3), (5, 0xFFFFFFFF, 3)),
        (struct.pack("<2HI2HQ", 9, 4, 0, 1, 8, 5), (1, 2, 0xFFFFFFFF), (1, 2, 5)),
        (struct.pack("<2HQ", 2, 8, 5), (0xFFFFFFFF, 2, 3), (0xFFFFFFFF, 2, 3)),
        (struct.pack("<2HQ2HQ", 1, 8, 5, 1, 8, 6), (0xFFFFFFFF, 0xFFFFFFFF, 3), (5, 0xFFFFFFFF, 3)),
        (struct.pack("<2HI", 1, 8, 5), (0xFFFFFFFF, 2, 3), (0xFFFFFFFF, 2, 3)),
    ],
)
def test_sizes_in_64_bits(extra: bytes, values: tuple[int, ...], found: tuple[int, ...]) -> None:
    """APPNOTE.TXT 4.5.3: only the fields that do not hold their values are there, in this order."""
    assert zips._wide(extra, *values) == found


def test_a_list_in_64_bits() -> None:
    raw = zipped({"a": b"x"})
    at = raw.index(b"PK\5\6")
    start = raw.index(b"PK\1\2")
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, at - start, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    assert [each.name for each in listed(raw[:at] + record + locator + end)] == ["a"]
    with pytest.raises(zips.ZipError, match="does not lie within"):
        listed(raw[:at] + record + b"PK\6\6" + locator[4:] + end)
    with pytest.raises(zips.ZipError, match="does not lie within"):
        listed(raw[:at] + b"PK\6\7" + record[4:] + locator + end)


def test_a_member_whose_sizes_take_64_bits() -> None:
    """As `zipfile` writes one of which the size is not known before: its fields are in the list as well."""
    raw = zipped({"name": b"x" * 9})
    at = raw.index(b"PK\1\2")
    extra = struct.pack("<2H2Q", 1, 16, 9, 9)
    entry = (
        raw[at : at + 20]
        + b"\xff" * 8
        + raw[at + 28 : at + 30]
        + struct.pack("<H", 20)
        + raw[at + 32 : at + 50]
        + extra
    )
    end = raw[-22:-10] + struct.pack("<2LH", len(entry), at, 0)
    (member,) = listed(raw[:at] + entry + end)
    assert (member.name, member.compressed, member.size, member.header) == ("name", 9, 9, 0)


def test_members_unpacked() -> None:
    """Each of ZIP's usual methods, as far as is asked for."""
    data = bytes(range(250)) * 20
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        raw = zipped({"pad": b"p", "a": data}, method)
        source = lambda at, length, raw=raw: raw[at : at + length]  # noqa: E731
        member = listed(raw)[1]
        assert zips.unpacked(source, member, 5000) == data
        assert zips.unpacked(source, member, 700) in (data[:700], b"")
    with pytest.raises(zips.ZipError, match=r"^a member is not where the list says$"):
        zips.unpacked(source, member._replace(header=3), 5)
    with pytest.raises(zips.ZipError, match=r"^a member is not where the list says$"):
        zips.unpacked(source, member._replace(header=-1), 5)
    with pytest.raises(zips.ZipError, match=r"^compressed by an unsupported method$"):
        zips.inflate(97, b"", 5)
    for method in (8, 12):
        with pytest.raises(zips.ZipError, match=r"^a member cannot be unpacked$"):
            zips.inflate(method, b"\xff" * 20, 5)
    assert zips.inflate(8, zlib.compress(data)[2:-4], 9) == data[:9]


def test_lzma_in_zip() -> None:
    filters: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16}]
    packed = lzma.compress(b"x" * 999, lzma.FORMAT_RAW, filters=filters)
    small, large = b"\x5d" + (1 << 16).to_bytes(4, "little"), b"\x5d" + (1 << 27).to_bytes(4, "little")
    assert zips.inflate(14, b"\x09\x14\5\0" + small + packed, 999) == b"x" * 999
    for damaged in (
        b"\x09\x14\5\0" + large + packed,
        b"\x09\x14\5\0\xff" + small[1:] + packed,
        b"\x09\x14\5\0" + small + b"\xff" * 20,
    ):
        with pytest.raises(zips.ZipError, match=r"^a member cannot be unpacked$"):
            zips.inflate(14, damaged, 9)


# --- what formats share -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "regions"),
    [
        ([], [("rest", 0, 10)]),
        ([(0, 10)], [("tensors", 0, 10)]),
        ([(6, 8), (2, 4)], [("rest", 0, 2), ("tensors", 2, 4), ("rest", 4, 6), ("tensors", 6, 8), ("rest", 8, 10)]),
        ([(2, 6), (4, 8)], [("rest", 0, 2), ("tensors", 2, 6), ("tensors", 6, 8), ("rest", 8, 10)]),
        ([(2, 6), (3, 5)], [("rest", 0, 2), ("tensors", 2, 6), ("rest", 6, 10)]),
        ([(8, 20), (30, 40)], [("rest", 0, 8), ("tensors", 8, 10)]),
        ([(2, 2), (0, 1)], [("tensors", 0, 1), ("rest", 1, 10)]),
    ],
)
def test_regions_around_tensors(claimed: list[tuple[int, int]], regions: list[tuple[str, int, int]]) -> None:
    assert around(claimed, 10, "rest") == tuple(Region(*each) for each in regions)
    assert around([], 3) == (Region("header", 0, 3),)


def test_findings_are_counted() -> None:
    findings = Findings("m")
    for number in range(22):
        findings.add("hole", "error", str(number), "t")
    findings.add("hole", "info", "x")
    told = findings.all()
    assert told[:20] == tuple(Finding("hole", "error", str(number), "m", "t") for number in range(20))
    assert told[20:] == (
        Finding("hole", "info", "x", "m"),
        Finding("hole", "error", "2 more findings of this kind", "m"),
    )


@pytest.mark.parametrize(
    ("raw", "rule", "what"),
    [
        (b"", "empty-file", "is empty: the download never began, or the disk was full"),
        (b"abc", "truncated", "has 3 bytes: too short for a weight file"),
        (b"version https://git-lfs.x", "lfs-pointer", "is a git-LFS pointer, not the weights: run `git lfs pull` in its folder"),
        (b"\xef\xbb\xbf \n<HTML><body>", "html-page", "is an HTML page, not weights: the download got a web page; download it again"),
        (b'{"error": "x"}', "json-document", "is a JSON document, not weights: for a configuration use `inspect predict`"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\0", "not-weights", "is gzip-compressed: unpack it first"),
        (b"nothing but text", "not-weights", "is a text file, not weights"),
        (b"\x89HDF\r\n\x1a\n12345", "not-weights", "is an HDF5 file (Keras), not safetensors or GGUF: give it HDF5's suffix to read it"),
    ],
)  # fmt: skip
def test_what_is_found_in_place_of_weights(raw: bytes, rule: str, what: str) -> None:
    assert refused(formats.read, raw, "a\n.safetensors") == (rule, f"P {what}")


def test_the_first_bytes_decide() -> None:
    """A header that could be is no page, and each framework's file goes to its own reader."""
    for name, raw, kind in (
        ("a.npy", described() + bytes(12), "numpy"),
        ("a.bin", described() + bytes(12), "numpy"),
        ("a.npz", zipped({"a.npy": described() + bytes(12)}), "numpy"),
        ("a.msgpack", b"\x81\1\1", "flax"),
        ("a.msgpack", b"\xde\0\1\1\1", "flax"),
        ("a.h5", keras(lambda file: file.create_dataset("a", data=np.zeros(1, "<f4"))), "hdf5"),
    ):
        assert formats.read(Bytes(raw), name).format == kind
    header = b'{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}   '
    assert formats.read(Bytes((63).to_bytes(8, "little") + header + b"x"), "a").format == "safetensors"


@pytest.mark.parametrize(
    ("name", "is_state", "kind"),
    [
        ("model.layers.0.weight", False, ""),
        ("optimizer.state.0.exp_avg", True, "exp_avg"),
        ("optimizer.0.exp_avg.7", True, "exp_avg"),
        ("ema.layers.0.weight", True, "averaged weights (EMA)"),
        ("state.0.exp_avg", True, "exp_avg"),
        ("app.optimizer.state.a.step", True, "step"),
        ("app.module.state.a.step", False, "step"),
        ("app.state.optimizer.step", False, "step"),
        ("state.exp_avg", False, "exp_avg"),
        ("state.0.weight", False, ""),
        ("optimizer.single_partition_of_fp32_groups.0", True, "master weights"),
        ("exp_avg.state", False, ""),
        ("0", False, ""),
    ],
)
def test_state_of_training(name: str, is_state: bool, kind: str) -> None:
    assert (training.is_state(name), training.kind_of(name)) == (is_state, kind)


def test_numbers_of_small_floats() -> None:
    """By the formula of each format's own specification, for every pattern of its bits."""
    for dtype, exponent, mantissa, bias in (
        ("F8_E4M3", 4, 3, 7),
        ("F8_E5M2", 5, 2, 15),
        ("F6_E2M3", 2, 3, 1),
        ("F4", 2, 1, 1),
    ):
        values = decoding.table(dtype)
        for bits in range(1 << (1 + exponent + mantissa)):
            sign = -1.0 if bits >> (exponent + mantissa) else 1.0
            power, part = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
            value = sign * (
                part / 2**mantissa * 2.0 ** (1 - bias)
                if not power
                else (1 + part / 2**mantissa) * 2.0 ** (power - bias)
            )
            if dtype == "F8_E5M2" and power == 31:
                value = float("nan") if part else sign * float("inf")
            if dtype == "F8_E4M3" and power == 15 and part == 7:
                value = float("nan")
            assert np.array_equal(values[bits], np.float32(value), equal_nan=True), (dtype, bits)
    assert np.isnan(decoding.table("F8_E4M3FNUZ")[128])
    assert decoding.table("F8_E4M3FNUZ")[0x40] == 1.0
    assert decoding.table("F8_E8M0")[[0, 127, 254]].tolist() == [2.0**-127, 1.0, 2.0**127]
    assert np.isnan(decoding.table("F8_E8M0")[255])


@pytest.mark.parametrize(
    ("dtype", "data", "values", "kind"),
    [
        ("BF16", b"\x80\x3f\x00\xc0", [1.0, -2.0], "f4"),
        ("F16", b"\x00\x3c", [1.0], "f4"),
        ("I64", (-5).to_bytes(8, "little", signed=True), [-5.0], "f8"),
        ("I32", (-5).to_bytes(4, "little", signed=True), [-5.0], "f8"),
        ("U32", b"\1\0\0\0", [1.0], "f8"),
        ("F64", struct.pack("<d", 0.1), [0.1], "f8"),
        ("F32", struct.pack("<f", 0.5), [0.5], "f4"),
        ("U8", b"\xff", [255.0], "f4"),
        ("C64", struct.pack("<2f", 1, 2), [1.0, 2.0], "f4"),
        ("C128", struct.pack("<2d", 1, 2), [1.0, 2.0], "f8"),
        ("F4", b"\x21\x0f", [0.5, 1.0, -6.0, 0.0], "f4"),
        ("F6_E2M3", bytes((0b01000001, 0x10, 0x04)), [0.125, 0.125, 0.125, 0.125], "f4"),
        ("F8_E5M2", b"\x3c", [1.0], "f4"),
    ],
)
def test_numbers_from_bytes(dtype: str, data: bytes, values: list[float], kind: str) -> None:
    found = decoding.decoded(data, dtype)
    assert (found.tolist(), found.dtype) == (values, np.dtype(kind))
    assert decoding.is_known(dtype)


def test_widths() -> None:
    assert [decoding.width(each) for each in ("BF16", "F8_E8M0", "F8_E4M3", "F64", "C64", "F4", "F6_E2M3", "BOOL")] == [
        2,
        1,
        1,
        8,
        8,
        1,
        3,
        1,
    ]
    assert [decoding.has_patterns(each) for each in ("BF16", "F16", "F32", "F4", "C32", "I8", "odd")] == [
        True,
        True,
        False,
        False,
        False,
        True,
        False,
    ]
    assert decoding.patterns("F16").size == 65536
    assert decoding.patterns("I8")[255] == -1
    assert decoding.decoded(b"\x3f\x80", "BF16", big=True).tolist() == [1.0]
    assert decoding.decoded(b"\0\1", "U16", big=True).tolist() == [1.0]
    assert decoding.nibbles(np.array([[0x21], [0x43]], "u1")).tolist() == [[1, 2], [3, 4]]
    assert not decoding.is_known("Q4_0")
