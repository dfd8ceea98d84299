"""NumPy's own files: `.npy`, one array after a line of text, and `.npz`, a ZIP archive of them.

    magic, 6 bytes; version, 2; the header's length, 2 or 4; {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

The header is Python's syntax (numpy/lib/format.py): it is matched, never evaluated. Arrays of objects are pickles,
which are reported but not opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from inspector.errors import FormatError
from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.regions import around
from inspector.model import Header, Tensor
from inspector.sources import Source
from inspector.units import escape, integer, plural

MAGIC = b"\x93NUMPY"
#: Bytes read at once at the start of an array: nearly every header has 118.
_FIRST = 512
#: Bytes of a header: NumPy itself refuses longer ones.
MAX_HEADER = 10_000
#: Arrays of one archive.
MAX_ARRAYS = 100_000

_HEADER = re.compile(
    r"\{'descr': '(?P<descr>[<>|=]?[a-zA-Z?][0-9]{0,9}(?:\[\w{1,9}\])?)', 'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>[0-9, ]*)\),? *\}\s*"
)
#: NumPy's kind of a type → the start of its dtype name.
_KINDS = {"f": "F", "i": "I", "u": "U", "c": "C"}
_WORDS = {"b1": "BOOL", "?": "BOOL", "?1": "BOOL"}


class _Array(NamedTuple):
    """The contents of one array's header."""

    dtype: str
    width: int  # bytes of an element
    shape: tuple[int, ...]
    start: int  # of the numbers, from the start of the header
    fortran: bool
    big: bool

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.width


class _NoArrayError(ValueError):
    """Not an array header, or not an array of numbers."""


def read(source: Source, path: str) -> Header:
    """The arrays of a `.npy` or `.npz` file.

    Raises:
        FormatError: it is neither.
        SourceError: the bytes cannot be read.
    """
    findings = Findings(path)
    alone = bytes(source.prefix(6)[:6]) == MAGIC
    found = [_of_npy(source, path, findings)] if alone else list(_of_npz(source, path, findings))
    read_at = zips.clipped(source.read, source.size)
    end = found[0][1].start + found[0][1].nbytes if alone else zips.end_of(read_at, source.size)
    findings.check_end(end, source.size)
    if not found and not findings.all():
        raise FormatError(f"{escape(path)} is a ZIP archive, but not NumPy's: it has no .npy file", "not-weights")
    tensors = [tensor for tensor, _ in found]
    claimed = [(tensor.offset, tensor.offset + tensor.nbytes) for tensor in tensors]
    regions = around(claimed, source.size, "header" if alone else "archive", end)
    turned = ((at, array.shape) for at, (_, array) in enumerate(found) if array.fortran and len(array.shape) > 1)
    strides = {at: _columns_first(shape) for at, shape in turned}
    return Header(path, "numpy", source.size, tensors, regions, {}, findings.all(), strides)


def _of_npy(source: Source, path: str, findings: Findings) -> tuple[Tensor, _Array]:
    """The array of a `.npy` file, named after it."""
    name = path.rpartition("/")[2].removesuffix(".npy")
    try:
        array = _parsed_header(bytes(source.prefix(min(source.size, _FIRST))[:_FIRST]), source)
    except _NoArrayError as error:
        raise FormatError(f"{escape(path)} does not hold an array of numbers: {error}", "unreadable-file") from error
    _report(array, name, findings, stored=True)
    return Tensor(name, array.dtype, array.shape, array.start, array.nbytes), array


def _of_npz(source: Source, path: str, findings: Findings) -> Iterator[tuple[Tensor, _Array]]:
    """The arrays of an archive."""
    try:
        members = zips.members(zips.clipped(source.read, source.size), source.size)
    except zips.ZipError as error:
        raise FormatError(f"{escape(path)} begins as a ZIP archive, and {error}", "truncated") from error
    for member, name in _readable_arrays(members, findings):
        try:
            array, start = _array_of_member(source, member)
        except (zips.ZipError, _NoArrayError) as error:
            findings.add("tensor-entry", "warning", f"not an array of numbers: {error}", name)
            continue
        stored = member.method == zips.STORED
        nbytes = array.nbytes if stored else member.compressed
        if stored and array.start + array.nbytes > member.compressed:
            what = f"its numbers end {plural(array.start + array.nbytes - member.compressed, 'byte')} beyond its record"
            findings.add("storage", "error", what, name)
            nbytes = max(0, member.compressed - array.start)
        _report(array, name, findings, stored=stored)
        yield Tensor(name, array.dtype, array.shape, start + (array.start if stored else 0), nbytes), array


def _readable_arrays(members: Sequence[zips.Member], findings: Findings) -> Iterator[tuple[zips.Member, str]]:
    """The members that are arrays, each with its name; a finding says why others are not read."""
    if len(members) > MAX_ARRAYS:
        findings.add("not-judged", "error", f"{integer(len(members))} members, of which {integer(MAX_ARRAYS)} are read")
    for member in members[:MAX_ARRAYS]:
        name = member.name.removesuffix(".npy").replace("/", ".")
        if member.encrypted:
            findings.add("tensor-entry", "error", "it is encrypted: NumPy does not read it", name)
        elif member.name.endswith(".npy"):
            yield member, name


def _array_of_member(source: Source, member: zips.Member) -> tuple[_Array, int]:
    """An archive's array, and the offset of its record's bytes. Raises ZipError, _NoArrayError."""
    read_at = zips.clipped(source.read, source.size)
    start = zips.data_start(read_at, member)
    raw = read_at(start, min(member.compressed, MAX_HEADER if member.method != zips.STORED else _FIRST))
    if member.method != zips.STORED:
        return _parsed_header(zips.inflate(member.method, raw, MAX_HEADER)), start
    length = _header_length(raw)
    return _parsed_header(raw if length <= len(raw) else read_at(start, min(length, MAX_HEADER))), start


def _header_length(raw: bytes) -> int:
    """Bytes of a header and of the fields before it."""
    wide = raw[6:7] in (b"\2", b"\3")
    return (12 if wide else 10) + int.from_bytes(raw[8 : 12 if wide else 10], "little")


def _parsed_header(raw: bytes, source: Source | None = None) -> _Array:
    """Parses a header. Raises _NoArrayError."""
    if raw[:6] != MAGIC or len(raw) < 12:
        raise _NoArrayError("it does not begin like one")
    length = _header_length(raw)
    if length > MAX_HEADER:
        raise _NoArrayError("a header longer than NumPy reads")
    if length > len(raw) and source is not None and length <= source.size:
        raw = bytes(source.prefix(length)[:length])
    wide = raw[6:7] in (b"\2", b"\3")
    text = raw[12 if wide else 10 : length].decode("utf-8" if raw[6:7] == b"\3" else "latin-1", "replace")
    found = _HEADER.fullmatch(text)
    if found is None:
        kind = "objects, which are pickled" if "'descr': '|O" in text else "records, or a damaged header"
        raise _NoArrayError(kind)
    return _array_of_match(found, length)


def _array_of_match(found: re.Match[str], start: int) -> _Array:
    order, kind = re.fullmatch(r"([<>|=]?)(.*)", found["descr"]).groups()  # type: ignore[union-attr]  # all parts are optional
    if kind.startswith("O"):
        raise _NoArrayError("objects, which are pickled")
    digits = re.search(r"\d+", kind)
    width = int(digits[0]) if digits else 1
    if kind[0] == "U":
        dtype, width = kind, 4 * width
    else:
        dtype = _WORDS.get(kind) or (f"{_KINDS[kind[0]]}{8 * width}" if kind[0] in _KINDS else kind)
    shape = tuple(int(each) for each in found["shape"].replace(" ", "").split(",") if each)
    if len(shape) > 64 or any(size >= 2**63 for size in shape):
        raise _NoArrayError("an impossible shape")
    return _Array(dtype, width, shape, start, found["fortran"] == "True", order == ">")


def _report(array: _Array, name: str, findings: Findings, *, stored: bool) -> None:
    if array.big:
        findings.add("big-endian", "info", "its numbers are big-endian", name)
    if not stored:
        findings.add("view", "info", "compressed: its bytes are counted as stored in the archive", name)


def _columns_first(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of an array in column-major order."""
    return tuple(prod(shape[:at]) for at in range(len(shape)))
