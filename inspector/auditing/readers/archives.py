"""The contents of files: nested archives are opened, and any that cannot be opened is reported.

ZIP and tar archives, SQLite's databases, NumPy's arrays of objects, and gzip, zlib, bzip2 and LZMA streams. Anything
else is passed on unchanged, to be examined as a pickle if it could be one.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple

from inspector.auditing import data
from inspector.formats import zips
from inspector.formats.zips import Read

#: How deeply nested archives are opened.
MAX_DEPTH = 5
#: The most bytes to which one compressed file or member is unpacked, and all of a model's together.
MAX_UNPACKED = 16 * 1024 * 1024
MAX_ALL_UNPACKED = 64 * 1024 * 1024
#: The most members of all of a model's archives together.
MAX_MEMBERS = 20_000
#: The most memory that an LZMA stream may require: the highest preset's dictionary of 64 MiB, and its decoder.
MAX_LZMA = 72 * 1024 * 1024
#: The most consecutive compressed streams in one file.
MAX_STREAMS = 1_000
START = 512  # bytes that identify a file's kind: a tar archive's first header
_NUMPY = b"\x93NUMPY"
#: The start of a compressed file of joblib before 0.10, which it still reads: two letters, then the uncompressed size
#: in hexadecimal digits (`joblib/numpy_pickle_compat.py`, `read_zfile`).
_ZFILE, _ZFILE_HEADER = b"ZF0x", 21
_SQLITE = b"SQLite format 3\0"
#: A pickle as text, in the `data` of an agent of Stable Baselines 3, which unpickles it; and the bytes searched for it.
_SERIALIZED, MAX_SERIALIZED = re.compile(rb'":serialized:"\s*:\s*"([A-Za-z0-9+/=]{8,})"'), 4 * 1024 * 1024
_NAMES = data.names("archives")
#: First bytes → an archive or compression that the audit does not open.
UNOPENED: tuple[tuple[bytes, str], ...] = tuple((magic.encode("latin-1"), what) for magic, what in _NAMES["unopened"])

#: First bytes of a program → its kind.
PROGRAMS: tuple[tuple[bytes, str], ...] = tuple((magic.encode("latin-1"), what) for magic, what in _NAMES["programs"])

#: First bytes of archives that the audit opens, and of those it does not.
MAGICS = (_NUMPY, _SQLITE, _ZFILE, b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x5d\0\0", *(magic for magic, _ in UNOPENED))

_OF_PROGRAMS = tuple(magic for magic, _ in PROGRAMS)


def program_of(start: bytes) -> str | None:
    """What kind of program a file is, by its first 8 bytes; None for none."""
    if not start.startswith(_OF_PROGRAMS):
        return None
    return next(what for magic, what in PROGRAMS if start.startswith(magic))


class Limits:
    """The budget that remains for a model's archives."""

    def __init__(self) -> None:
        self.unpacked = MAX_ALL_UNPACKED
        self.members = MAX_MEMBERS


class Piece(NamedTuple):
    """Bytes to examine: a file, or the contents of one."""

    name: str  # within the file: "" for the file itself, "archive/data.pkl", "inner.zip/data.pkl"
    read: Read
    size: int

    def start(self, length: int = START) -> bytes:
        return self.read(0, min(length, self.size))


#: Why a compressed file is read only in part.
TOO_LARGE = "it unpacks to more than the audit reads"


class Unopened(NamedTuple):
    """A piece that could not be examined, and why."""

    name: str
    why: str


class Outside(NamedTuple):
    """A member that would be unpacked outside the folder, or a link that leads there."""

    name: str
    leads_to: str


#: The contents of a file: bytes to examine, and problems met on the way.
Part = Piece | Unopened | Outside


def pieces(piece: Piece, limits: Limits, depth: int = 0, *, likely: bool = True) -> Iterator[Part]:
    """The contents of a file after opening all archives in it.

    Args:
        likely: whether it has the name of a loadable file; other files are not searched for an appended archive.
    """
    if depth > MAX_DEPTH:
        yield Unopened(piece.name, "archives nested deeper than the audit opens them")
        return
    start = piece.start()
    if start[:2] == b"PK" or (likely and zips.looks_like_zip(piece.read, piece.size)):
        yield from _of_zip(piece, limits, depth)
        if start[:2] == b"PK":
            return  # else other readers start at the front
    if start[:6] == _NUMPY:
        yield from _of_array(piece)
    elif unpack := _unpacker(start):
        yield from _of_compressed(piece, unpack, limits, depth, likely=likely)
    elif _is_tar(start):
        yield from _of_tar(piece, limits, depth)
    elif start.startswith(_SQLITE):
        yield from _of_database(piece, limits, depth)
    elif found := next((what for magic, what in UNOPENED if start.startswith(magic)), None):
        yield Unopened(piece.name, found)
    else:
        yield piece
        for number, text in enumerate(_SERIALIZED.findall(piece.start(MAX_SERIALIZED)) if depth else ()):
            with suppress(ValueError):
                yield in_memory(_inner_name(piece.name, f"serialized{number}.pkl"), b64decode(text))


def leaves(path: str) -> bool:
    """Whether a relative path leaves its folder, on any system."""
    parts = re.split(r"[/\\]", path)
    absolute = path.startswith(("/", "\\", "~", "file:")) or re.match(r"[A-Za-z]:", path) is not None
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return absolute or "\0" in path


def _inner_name(outer: str, inner: str) -> str:
    return f"{outer}/{inner}" if outer else inner


def _range_of(piece: Piece, name: str, at: int, size: int) -> Piece:
    """A range of a piece."""
    size = max(0, min(size, piece.size - at))

    def read(start: int, length: int) -> bytes:
        return piece.read(at + start, max(0, min(length, size - start)))

    return Piece(name, read, size)


def in_memory(name: str, data: bytes) -> Piece:
    """Bytes in memory."""
    return Piece(name, lambda start, length: data[start : start + length], len(data))


# --- ZIP ----------------------------------------------------------------------------------------

#: What a PyTorch archive has besides its pickle: tensors' bytes, `archive/data/0`, and a few words. No reader
#: interprets them as anything else.
_RECORD = re.compile(
    r"(?:.*/)?(?:(?:data|constants|xl_model_weights|tensors)/\d+|\.data/serialization_id|version|byteorder"
    r"|\.format_version|\.storage_alignment)"
)


def _of_zip(piece: Piece, limits: Limits, depth: int) -> Iterator[Part]:
    """The last archive, and those before it: `torch.distributed.checkpoint` writes one for each tensor into a file."""
    end, first = piece.size, piece.start(2) == b"PK"
    while end > 0:
        own = _range_of(piece, piece.name, 0, end)
        try:
            listed = zips.members(own.read, end)
        except zips.ZipError as error:
            yield Unopened(piece.name, str(error) if end == piece.size else "no archive before another archive")
            return
        of_torch = any(member.name.endswith("data.pkl") for member in listed)
        for member in listed:
            if of_torch and _RECORD.fullmatch(member.name) and member.method == zips.STORED and not member.is_link:
                continue
            limits.members -= 1
            if limits.members < 0:
                yield Unopened(piece.name, "more members than the audit looks into")
                return
            yield from _of_member(own, member, limits, depth)
        end = min((member.header for member in listed), default=0) if first else 0


def _of_member(piece: Piece, member: zips.Member, limits: Limits, depth: int) -> Iterator[Part]:
    name = _inner_name(piece.name, member.name)
    if leaves(member.name):
        yield Outside(piece.name, member.name)
    if member.encrypted:
        yield Unopened(name, "an encrypted member")  # some readers take it as it is
    try:
        inner = member_of(piece, member, name, limits)
        if member.is_link and leaves(path := _target_of(member.name, inner.start().decode("utf-8", "replace"))):
            yield Outside(piece.name, path)
        yield from pieces(inner, limits, depth + 1)
    except zips.ZipError as error:
        yield Unopened(name, str(error))


def member_of(piece: Piece, member: zips.Member, name: str, limits: Limits) -> Piece:
    """A member, unpacked as far as possible. Raises ZipError."""
    if member.method == zips.STORED:
        return _range_of(piece, name, zips.data_start(piece.read, member), member.compressed)
    limit = _allowance(limits)
    data = zips.unpacked(piece.read, member, limit)
    limits.unpacked -= len(data)
    if len(data) < member.size and (len(data) < limit or _is_marked(data) or name.endswith(".pkl")):
        raise zips.ZipError(TOO_LARGE if len(data) >= limit else "a truncated member")
    return in_memory(name, data)


def _allowance(limits: Limits) -> int:
    """The most bytes to which the next member may be unpacked."""
    return max(START, min(MAX_UNPACKED, limits.unpacked))


def _is_marked(data: bytes) -> bool:
    """Whether bytes begin like a pickle of protocol 2 or later, or like an archive that may contain one."""
    return data[:1] == b"\x80" or data[:2] == b"PK" or data[:6] == _NUMPY or _is_tar(data[:START])


# --- tar ----------------------------------------------------------------------------------------


def _is_tar(start: bytes) -> bool:
    """POSIX archives by their magic, older ones by the checksum of their first header."""
    if len(start) < 512:
        return False
    try:
        stated = int(start[148:156].strip(b" \0") or b"-1", 8)
    except ValueError:
        return start[257:262] == b"ustar"
    return stated == sum(start) - sum(start[148:156]) + 8 * 0x20 or start[257:262] == b"ustar"


def _of_tar(piece: Piece, limits: Limits, depth: int) -> Iterator[Part]:
    import tarfile  # few models have such an archive

    faults = (tarfile.TarError, OSError, EOFError, ValueError, KeyError, RecursionError, OverflowError)
    try:
        with tarfile.open(fileobj=_Reader(piece), mode="r:") as archive:
            for member in archive:
                limits.members -= 1
                if limits.members < 0:
                    yield Unopened(piece.name, "more members than the audit looks into")
                    return
                target = _target_of(member.name if member.issym() else "", member.linkname)  # a hard link's: the root
                for path in (member.name, *([target] if member.issym() or member.islnk() else ())):
                    if leaves(path):
                        yield Outside(piece.name, path)
                if member.issparse():
                    yield Unopened(_inner_name(piece.name, member.name), "a member with holes in it")
                elif member.isdev():
                    yield Unopened(_inner_name(piece.name, member.name), "a device or a pipe, in an archive")
                elif member.isreg():
                    inner = _range_of(piece, _inner_name(piece.name, member.name), member.offset_data, member.size)
                    yield from pieces(inner, limits, depth + 1)
    except faults:
        yield Unopened(piece.name, "a truncated or damaged tar archive")


def _target_of(link: str, target: str) -> str:
    """The target of a symbolic link, which is relative to the link's folder, from the archive's root."""
    own = link.rpartition("/")[0]
    return f"{own}/{target}" if own and not target.startswith("/") else target


class _Reader(BytesIO):
    """A piece as the file object that `tarfile` expects: read in place, never as a whole."""

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        self._piece, self._at = piece, 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, self._piece.size)[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._piece.size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > MAX_UNPACKED:
            raise ValueError("an implausibly long header")
        data = self._piece.read(self._at, wanted)
        self._at += len(data)
        return data


# --- SQLite --------------------------------------------------------------------------------------


def _of_database(piece: Piece, limits: Limits, depth: int) -> Iterator[Part]:
    """The values of a database's tables: caches and stores of embeddings keep pickles in them."""
    whole = piece.size <= _allowance(limits)
    try:
        import sqlite3  # few models have such a file, and some Pythons lack it

        load: Any = sqlite3.Connection.deserialize  # type: ignore[attr-defined,unused-ignore]  # since Python 3.11
    except (ImportError, AttributeError):
        load = None
    if not whole or load is None:
        yield Unopened(piece.name, "a database that is not read" if whole else TOO_LARGE)
        return
    limits.unpacked -= piece.size
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            load(database, piece.read(0, piece.size))
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_progress_handler(lambda: 1, MOST_ROWS)
            listed = database.execute(_COLUMNS).fetchall()
            quoted = ([each.replace('"', '""') for each in names] for names in listed)
            for table, column in quoted:
                for (value,) in database.execute(_VALUES.format(table, column)):
                    limits.members -= 1
                    if limits.members < 0:
                        yield Unopened(piece.name, "more values than the audit looks into")
                        return
                    parts = pieces(in_memory(_inner_name(piece.name, "value"), value), limits, depth + 1)
                    yield from (each for each in parts if not isinstance(each, Unopened))  # a vector by chance
        except sqlite3.Error:
            yield Unopened(piece.name, "a damaged or very large database")


_COLUMNS = """SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
WHERE t.type = 'table' AND t.sql LIKE 'CREATE TABLE%'"""
#: Bytes that may be a pickle, by the first and the last, or compressed: the rest are vectors, and text is no pickle.
_VALUES = """SELECT "{1}" FROM "{0}" WHERE typeof("{1}") = 'blob'
AND (substr("{1}", 1, 2) IN (x'789c', x'1f8b', x'504b')
OR (substr("{1}", -1) = x'2e' AND substr("{1}", 1, 1) IN (x'80', x'63', x'28', x'5d', x'7d')))"""
#: Steps of SQLite's virtual machine for all of a file's tables: one of 16 MB takes some 10 for each of its rows.
MOST_ROWS = 50_000_000


# --- NumPy --------------------------------------------------------------------------------------


def _of_array(piece: Piece) -> Iterator[Part]:
    """A .npy file: an array of objects is a pickle, any other contains numbers (numpy.lib.format).

    If the header is not as NumPy writes it, the rest is examined as a pickle too.
    """
    start = piece.start(1 << 16)
    width = 2 if start[6:7] == b"\x01" else 4  # bytes of the header's length
    length = int.from_bytes(start[8 : 8 + width], "little")
    header = start[8 + width : 8 + width + length]
    if len(header) < length:
        yield Unopened(piece.name, "a NumPy header that is truncated or implausibly long")
    elif not _NUMBERS.fullmatch(header):
        yield _range_of(piece, _inner_name(piece.name, "objects.pkl"), 8 + width + length, piece.size)


#: The header of an array of numbers or text, as NumPy writes it. A structured dtype is a list, and may hold objects.
_NUMBERS = re.compile(
    rb"""\{'descr': '[<>|=]?[?bBhHiIlLqQpPefdgFDGSUVMmca]\d{0,9}(?:\[\w{1,9}\])?', 'fortran_order': (?:True|False), """
    rb"""'shape': \((?:\d{1,20}L?(?:, \d{1,20}L?){0,64},?)?\),? ?\}\s*"""
)
# --- compression --------------------------------------------------------------------------------

Unpack = Callable[[bytes, int], bytes]


def _unpacker(start: bytes) -> Unpack | None:
    """The decompressor for a stream, determined by its first bytes."""
    if start[:2] == b"\x1f\x8b":
        return lambda raw, limit: _all_streams(lambda: zlib.decompressobj(31), raw, limit)
    if start[:2] in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"):  # RFC 1950, 2.2: a level each
        return lambda raw, limit: zlib.decompressobj().decompress(raw, limit)
    if start[:4] == _ZFILE:
        at = _ZFILE_HEADER + (start[_ZFILE_HEADER : _ZFILE_HEADER + 1] == b" ")
        return lambda raw, limit: zlib.decompressobj().decompress(raw[at:], limit)
    if start[:3] == b"BZh":
        return lambda raw, limit: _all_streams(import_module("bz2").BZ2Decompressor, raw, limit)
    if start[:6] == b"\xfd7zXZ\0" or start[:3] == b"\x5d\0\0":
        return _unlzma
    return None


def _all_streams(new: Callable[[], Any], raw: bytes, limit: int) -> bytes:
    """All consecutive streams, as Python's own readers process them; zeros between them are padding."""
    unpacked: list[bytes] = []
    for _ in range(MAX_STREAMS):
        stream = new()
        unpacked.append(stream.decompress(raw, limit))
        limit -= len(unpacked[-1])
        raw = stream.unused_data.lstrip(b"\0")
        if not stream.eof or not raw or limit <= 0:
            return b"".join(unpacked)
    raise ValueError("implausibly many streams")


def _unlzma(raw: bytes, limit: int) -> bytes:
    import lzma  # few models have such a file

    try:
        return _all_streams(lambda: lzma.LZMADecompressor(memlimit=MAX_LZMA), raw, limit)
    except lzma.LZMAError as error:
        raise ValueError("damaged") from error


def _of_compressed(piece: Piece, unpack: Unpack, limits: Limits, depth: int, *, likely: bool) -> Iterator[Part]:
    limit = _allowance(limits)
    try:
        data = unpack(piece.read(0, min(piece.size, MAX_UNPACKED)), limit)
    except (zlib.error, OSError, EOFError, ValueError):
        yield Unopened(piece.name, "damaged compressed data")
        return
    limits.unpacked -= len(data)
    inner = in_memory(_inner_name(piece.name, "unpacked"), data)
    if (len(data) >= limit or piece.size > MAX_UNPACKED) and (likely or _is_marked(data)):
        yield Unopened(piece.name, TOO_LARGE)
    yield from pieces(inner, limits, depth + 1)
