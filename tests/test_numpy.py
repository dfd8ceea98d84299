"""NumPy's arrays and archives, byte by byte."""

from __future__ import annotations

import zipfile

import pytest
from every import every
from in_memory import Bytes, described, refused, zipped

from inspector.formats import numpy
from inspector.model import Finding, Region, Tensor


@every(
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
def test_a_file_without_an_array_of_numbers_is_unreadable(raw: bytes, what: str) -> None:
    assert refused(numpy.read, raw) == ("unreadable-file", NO_NUMBERS + what)


def test_an_array_that_is_cut_off() -> None:
    head = described()
    header = numpy.read(Bytes(head + bytes(5)), "x.npy")
    assert header.tensors[0].nbytes == 12
    what = f"the contents end at byte {len(head) + 12}, the file at {len(head) + 5}: 7 bytes missing; download it again"
    assert header.findings == (Finding("truncated", "error", what, "x.npy"),)
    assert header.regions == (Region("header", 0, len(head)), Region("tensors", len(head), len(head) + 5))


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


def test_archives_with_what_is_not_an_array() -> None:
    """A pickle, a record shorter than its numbers, compressed arrays."""
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
