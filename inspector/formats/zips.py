"""ZIP archives as PyTorch reads them: by the central directory at the end, whatever precedes it.

More lenient than `zipfile` on purpose: loaders differ in which checksums, flags and names they check, and whatever any
of them would read must be seen (APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 to 4.3.16).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

Read = Callable[[int, int], bytes]

STORED, DEFLATED = 0, 8
#: Bytes of the list of members: 100,000 members take some 8 MB.
MAX_LIST = 32 * 1024 * 1024
MAX_MEMBERS = 500_000
#: Memory that an LZMA stream may request.
MAX_LZMA = 64 * 1024 * 1024

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_LISTED = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_IN_64 = 0xFFFFFFFF
#: The kind of a symbolic link in the upper four bits of Unix's mode, which the external attributes begin with.
_LINK = 0xA
#: Trailing bytes that are searched first for the end of the list.
_NEAR = 4096


class ZipError(ValueError):
    """Not a ZIP archive, or one whose list of members cannot be read."""


class LongListError(ZipError):
    """An archive whose list of members is too long to be read."""


class Member(NamedTuple):
    """One file in an archive."""

    name: str
    method: int  # compression method: `STORED`, `DEFLATED`, …
    encrypted: bool
    compressed: int  # bytes in the archive
    size: int  # bytes unpacked, as the list says
    header: int  # offset of its local header in the file
    is_link: bool = False  # a symbolic link, whose target is its text


def clipped(read: Read, size: int) -> Read:
    """Reads of a file of this size that end with it, as the functions here expect them."""

    def read_at(start: int, length: int) -> bytes:
        length = min(length, size - start)
        return read(start, length) if length > 0 and start >= 0 else b""

    return read_at


def looks_like_zip(read: Read, size: int) -> bool:
    """Whether there is a list of members at the end."""
    return _end_record(read, size) is not None


def end_of(read: Read, size: int) -> int:
    """Where the archive ends: after its end record and the comment. Raises ZipError."""
    found = _end_record(read, size)
    if found is None:
        raise ZipError(_NO_LIST)
    return found[3]


def members(read: Read, size: int) -> list[Member]:
    """The members of the archive. Raises ZipError."""
    end = _end_record(read, size)
    if end is None:
        raise ZipError(_NO_LIST)
    at, listed, start, _ = end
    shift = at - listed - start  # bytes before the archive, which its offsets do not include
    if shift >= 0 and listed > MAX_LIST:
        raise LongListError("its list of members is too long to be read")
    if shift < 0:
        raise ZipError("its list of members does not lie within the file")
    raw = read(start + shift, listed)
    return list(_parsed_list(raw, shift))


_NO_LIST = "its list of members is missing: the file is truncated, or not a ZIP archive"


def _end_record(read: Read, size: int) -> tuple[int, int, int, int] | None:
    """The end of the list, its bytes, its stated start, and the end of the archive."""
    for longest in (_NEAR, _END.size + 0xFFFF):  # hardly any archive has a comment after its list
        tail_start = max(0, size - longest)
        tail = read(tail_start, size - tail_start)
        at = tail.rfind(b"PK\5\6")
        if at >= 0:
            break
    if at < 0 or len(tail) - at < _END.size:
        return None
    if _is_end(tail, tail.rfind(b"PK\5\6", 0, at)):
        raise ZipError("it ends twice: readers differ in which list of members they use")
    _, _, _, _, _, listed, start, comment = _END.unpack_from(tail, at)
    at += tail_start
    end = at + _END.size + comment
    found = read(at - _LOCATOR_64.size, _LOCATOR_64.size) if at >= _LOCATOR_64.size else b""
    if found[:4] == b"PK\6\7" and len(found) == _LOCATOR_64.size:
        at -= _LOCATOR_64.size + _END_64.size
        record = read(at, _END_64.size) if at >= 0 else b""
        if record[:4] == b"PK\6\6" and len(record) == _END_64.size:
            *_, listed, start = _END_64.unpack(record)
    return at, listed, start, end


def _is_end(tail: bytes, at: int) -> bool:
    """Whether a record ends the file: its comment extends to the last byte."""
    return at >= 0 and int.from_bytes(tail[at + 20 : at + 22], "little") == len(tail) - at - _END.size


def _parsed_list(raw: bytes, shift: int) -> Iterator[Member]:
    at = 0
    for _ in range(MAX_MEMBERS):
        if len(raw) - at < _LISTED.size:
            break
        magic, _, _, flags, method, _, _, _, packed, size, name, extra, comment, *_, mode, header = _LISTED.unpack_from(
            raw, at
        )
        if magic != b"PK\1\2":
            raise ZipError("its list of members is damaged")
        at += _LISTED.size
        fields = raw[at + name : at + name + extra]
        size, packed, header = _from_zip64(fields, size, packed, header)
        text = raw[at : at + name].decode("utf-8" if flags & 0x800 else "cp437", "replace")
        yield Member(text, method, bool(flags & 1), packed, size, header + shift, mode >> 28 == _LINK)
        at += name + extra + comment
    if len(raw) - at >= 4:
        raise LongListError("its list of members is damaged or too long")


def _from_zip64(extra: bytes, *values: int) -> tuple[int, ...]:
    """Sizes and offset, from the ZIP64 field if they are too large for their own fields."""
    found = list(values)
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            place = at + 4
            for number, value in enumerate(found):
                if value == _IN_64 and place + 8 <= min(at + 4 + length, len(extra)):
                    (found[number],) = struct.unpack_from("<Q", extra, place)
                    place += 8
            break
        at += 4 + length
    return tuple(found)


def data_start(read: Read, member: Member) -> int:
    """The offset of a member's bytes. Raises ZipError."""
    raw = read(member.header, _LOCAL.size) if member.header >= 0 else b""
    if len(raw) < _LOCAL.size or raw[:4] != b"PK\3\4":
        raise ZipError("a member is not where the list says")
    name, extra = struct.unpack_from("<2H", raw, 26)
    return int(member.header + _LOCAL.size + name + extra)


def unpacked(read: Read, member: Member, limit: int) -> bytes:
    """A member's first `limit` bytes. Raises ZipError for an unsupported compression method."""
    start = data_start(read, member)
    if member.method == STORED:
        return read(start, min(limit, member.compressed))
    needed = limit + limit // 100 + 1024  # what cannot be compressed takes a little more, and a code's table
    return inflate(member.method, read(start, min(needed, member.compressed)), limit)


def inflate(method: int, raw: bytes, limit: int) -> bytes:
    """The first `limit` bytes of data compressed by one of ZIP's methods. Raises ZipError."""
    try:
        if method == DEFLATED:
            return zlib.decompressobj(-15).decompress(raw, limit)
        if method == 12:
            import bz2  # PyTorch's own archives are not compressed

            return bz2.BZ2Decompressor().decompress(raw, limit)
        if method == 14:
            return _unlzma(raw, limit)
    except (zlib.error, OSError, EOFError, ValueError) as error:
        raise ZipError("a member cannot be unpacked") from error
    raise ZipError("compressed by an unsupported method")


def _unlzma(raw: bytes, limit: int) -> bytes:
    """LZMA in a ZIP archive: 4 bytes of version and length, the properties, the data. Raises ValueError."""
    import lzma  # PyTorch's own archives are not compressed

    try:
        filters = [lzma._decode_filter_properties(lzma.FILTER_LZMA1, raw[4:9])]  # type: ignore[attr-defined]
        if filters[0]["dict_size"] > MAX_LZMA:
            raise ValueError("compressed in a way that needs too much memory")
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters).decompress(raw[9:], limit)
    except lzma.LZMAError as error:
        raise ValueError("damaged") from error
