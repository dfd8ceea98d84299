"""Where pickles lie: in files of their own, compressed, in NumPy's arrays, in ZIP and tar archives."""

from __future__ import annotations

import bz2
import lzma
import re
import tarfile
import zipfile
import zlib
from io import BytesIO
from typing import NamedTuple

from inspector.auditing.rules.subject import Subject

#: Bytes of opcodes that are read of one file: imports come early, and PyTorch keeps tensor data apart.
#: 10,000 tensors take 1 MB of them, and as much in a ZIP archive's list of members.
MAX_PICKLE = 2 * 1024 * 1024
MAX_MEMBERS = 100  # pickles in one archive: PyTorch's have one
#: Files in one tar archive that are looked at: PyTorch's first format has four, NeMo's some ten.
MAX_IN_TAR = 1_000
#: Memory that an LZMA stream may ask for.
MAX_LZMA = 64 * 1024 * 1024
#: Ways to compress that Python undoes in bounded memory; PyTorch stores.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: What reading a broken archive raises.
FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
)
_ENDS = (".pkl", ".pickle", ".debug_pkl", ".npy", ".joblib")
#: Members of the tar archives that PyTorch wrote before 0.1.10, all of them pickles, and of NeMo's.
_IN_TAR = (*_ENDS, ".ckpt", ".pt", ".bin", "pickle", "sys_info", "storages", "tensors")
_NUMPY = b"\x93NUMPY"
_PLAIN = (b"\x80", b"(", b"c", b"}", b"]")
#: The last record of a ZIP archive without a comment.
_ZIP_END = 22


class Stored(NamedTuple):
    """The pickles in a file."""

    pickles: list[bytes]  # each as far as it is read
    complete: bool  # whether all of them were found, and could be unpacked
    certain: bool  # whether the bytes can be nothing but a pickle


def pickles_in(subject: Subject, path: str) -> Stored | None:
    """The pickles in a file; None where it is of another kind."""
    start = subject.head(path, 8)
    if start[:4] == b"PK\x03\x04" or _ends_as_zip(subject, path):
        return Stored(*_members(subject, path), certain=True)
    if start[:4] == _NUMPY[:4]:
        found = _in_array(subject.head(path, MAX_PICKLE))
        return Stored([found] if found else [], complete=True, certain=False)
    if start[:1] in _PLAIN:
        return Stored([subject.head(path, MAX_PICKLE)], complete=True, certain=_is_marked(start))
    if (unpacked := _unpacked(start, subject.head(path, MAX_PICKLE))) is not None:
        return Stored([unpacked] if unpacked[:1] in _PLAIN else [], complete=True, certain=_is_marked(unpacked))
    if subject.span(path, 257, 5) == b"ustar":
        return Stored(*_in_tar(subject, path), certain=True)
    return None


def _is_marked(data: bytes) -> bool:
    """Whether bytes begin as a pickle of protocol 2 or later does; before, they have no mark of their own."""
    return data[:1] == b"\x80" and data[1:2] in (b"\2", b"\3", b"\4", b"\5")


def _ends_as_zip(subject: Subject, path: str) -> bool:
    """Whether an archive ends where the file ends: PyTorch's reader does not mind what stands before it."""
    return subject.span(path, subject.by_path[path].size - _ZIP_END, 4) == b"PK\x05\x06"


def _unpacked(start: bytes, data: bytes) -> bytes | None:
    """The beginning of what joblib and pandas compress; None of anything else."""
    try:
        if start[:2] == b"\x1f\x8b":
            return zlib.decompressobj(31).decompress(data, MAX_PICKLE)
        if start[:1] == b"\x78" and int.from_bytes(start[:2], "big") % 31 == 0:  # RFC 1950, section 2.2
            return zlib.decompressobj().decompress(data, MAX_PICKLE)
        if start[:3] == b"BZh":
            return bz2.BZ2Decompressor().decompress(data, MAX_PICKLE)
        if start[:6] == b"\xfd7zXZ\0" or start[:3] == b"\x5d\0\0":
            return lzma.LZMADecompressor(memlimit=MAX_LZMA).decompress(data, MAX_PICKLE)
    except FAULTS:
        pass
    return None


def _members(subject: Subject, path: str) -> tuple[list[bytes], bool]:
    """The pickles in a ZIP archive, as PyTorch writes them; and whether all of them were read."""
    found: list[bytes] = []
    left = MAX_PICKLE
    try:
        with zipfile.ZipFile(Reader(subject, path)) as archive:
            for member in archive.infolist():
                if member.filename.lower().endswith(_ENDS):
                    if member.compress_type not in _BOUNDED or len(found) >= MAX_MEMBERS:
                        return found, False
                    with archive.open(member) as stream:
                        data = stream.read(left)
                    left -= len(data)
                    if member.filename.lower().endswith(".npy"):
                        data = _in_array(data)
                    found += [data] if data else []
                    if left <= 0:
                        return found, False
    except FAULTS:
        return found, False
    return found, True


def _in_tar(subject: Subject, path: str) -> tuple[list[bytes], bool]:
    """The pickles in a tar archive that is not compressed; and whether all of them were read."""
    found: list[bytes] = []
    left = MAX_PICKLE
    try:
        with tarfile.open(fileobj=Reader(subject, path), mode="r:") as archive:
            for number, member in enumerate(archive):
                if number >= MAX_IN_TAR or len(found) >= MAX_MEMBERS or left <= 0:
                    return found, False
                stream = archive.extractfile(member) if member.name.lower().endswith(_IN_TAR) else None
                data = stream.read(min(left, member.size)) if stream else b""
                left -= len(data)
                if data.startswith(b"PK\x03\x04"):  # an archive within: its pickles are not looked for
                    return found, False
                found += [data] if data[:1] in _PLAIN else []
    except FAULTS:
        return found, False
    return found, True


def _in_array(data: bytes) -> bytes:
    """The pickle in NumPy's file of an array of objects; nothing of any other array's."""
    width = 2 if data[6:7] == b"\x01" else 4  # of the header's length
    start = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    objects = re.search(rb"'descr'\s*:[^:]*\bO", data[: min(start, 4096)])
    return data[start:] if data.startswith(_NUMPY) and objects else b""


class Reader(BytesIO):
    """A file of a subject as `zipfile` and `tarfile` want it: read in place, never whole."""

    def __init__(self, subject: Subject, path: str) -> None:
        super().__init__()
        self._subject, self._path = subject, path
        self._size, self._at = subject.place.files.get(path, subject.by_path[path].size), 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > MAX_PICKLE:
            raise zipfile.BadZipFile("a list of members that no checkpoint has")
        data = self._subject.span(self._path, self._at, wanted)
        self._at += len(data)
        return data
