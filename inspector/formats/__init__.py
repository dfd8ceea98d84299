"""Weight file formats. Each module reads one: `read(source, path) -> Header`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from inspector.errors import FormatError
from inspector.model import Header
from inspector.sources import Source
from inspector.sources.filenames import HDF5, WEIGHTS
from inspector.units import escape, plural

if TYPE_CHECKING:
    from inspector.model.codes import Code

#: First bytes of files often found in place of weights → the audit's rule, what the file is and what to do.
IMPOSTORS: Mapping[tuple[bytes, ...], tuple[Code, str]] = {
    (b"version https://git-lfs",): (
        "lfs-pointer",
        "a git-LFS pointer, not the weights: run `git lfs pull` in its folder",
    ),
    (b"<!doctype", b"<html", b"<head", b"<body", b"<title", b"<!--"): (
        "html-page",
        "an HTML page, not weights: the download got a web page; download it again",
    ),
    (b"<?xml",): ("html-page", "an XML document, not weights: the download got an error page; download it again"),
    (b"{",): ("json-document", "a JSON document, not weights: for a configuration use `inspect predict`"),
    (b"[",): ("json-document", "a JSON document, not weights"),
    (b"pk\x03\x04",): (
        "not-weights",
        "a ZIP archive (PyTorch's pickle format), not safetensors or GGUF: a pickle is never opened here",
    ),
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"): (
        "not-weights",
        "a pickle, not safetensors or GGUF: it is never opened here, because opening one runs its code",
    ),
    (b"\x89hdf",): ("not-weights", "an HDF5 file (Keras), not safetensors or GGUF: give it HDF5's suffix to read it"),
    (b"\x1f\x8b",): ("not-weights", "gzip-compressed: unpack it first"),
    (b"\x7felf",): ("not-weights", "a program for Linux (ELF), not weights"),
}
#: First bytes of the file names in a tar archive that PyTorch wrote before 0.1.10.
_IN_TAR = (b"sys_info", b"storages", b"tensors\0", b"pickle\0\0")
_LONGEST = 64
_BY_MAGIC = {magic: known for magics, known in IMPOSTORS.items() for magic in magics}
_AN_IMPOSTOR = b"|".join(map(re.escape, _BY_MAGIC))  # one pattern: a folder may have many files
#: First bytes of a map in MessagePack.
_MAPS = frozenset(bytes([first]) for first in (*range(0x81, 0x90), 0xDE, 0xDF))
_TEXT = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)))


def read(source: Source, path: str) -> Header:
    """The header of a weight file. The first bytes decide the format, not the name.

    Raises:
        FormatError: not one of the formats, or an unreadable header.
        SourceError: the bytes cannot be read.
    """
    if source.size == 0:
        raise FormatError(f"{escape(path)} is empty: the download never began, or the disk was full", "empty-file")
    magic = bytes(source.prefix(8)[:8])
    other = _of_another_framework(source, magic, path)
    if other is not None:
        return other(source, path)
    if magic in _IN_TAR and bytes(source.prefix(512)[257:262]) == b"ustar":
        from inspector.formats.pytorch import reader

        return reader.read(source, path)
    magic = magic[:4]
    if magic in (b"GGUF", b"FUGG"):
        from inspector.formats import gguf

        return gguf.read(source, path)
    if not path.endswith(WEIGHTS[0]) and bytes(source.prefix(9)[8:9]) != b"{":  # no header of safetensors
        _refuse_foreign(source, path)
    if magic == b"PK\3\4" or (magic[:1] == b"\x80" and magic[1:2] in (b"\2", b"\3", b"\4", b"\5")):
        from inspector.formats.pytorch import reader

        if not path.endswith(".safetensors"):  # its first bytes are a length, with any value
            return reader.read(source, path)
    from inspector.formats import safetensors

    try:
        if source.size < safetensors.LENGTH_BYTES:
            raise FormatError(
                f"{escape(path)} has {plural(source.size, 'byte')}: too short for a weight file", "truncated"
            )
        return safetensors.read(source, path)
    except FormatError as error:
        _explain_impostor(source, path, error)
        raise


def _refuse_foreign(source: Source, path: str) -> None:
    """Raise an error for a file of a known format that is not read. A pickle may be PyTorch's."""
    from inspector.formats import foreign  # safetensors and GGUF need it not

    known = foreign.foreign_of(path, bytes(source.prefix(foreign.HEAD)[: foreign.HEAD]))
    if known is not None and known.name != "pickle":
        what = f"in the format {known.name}, which is not read here: it is for {known.reader}"
        mistaken = path.endswith((".safetensors", ".gguf", ".pt", ".pth", "pytorch_model.bin"))
        raise FormatError(f"{escape(path)} is {what}", "not-weights" if mistaken else "not-judged")


def _of_another_framework(source: Source, magic: bytes, path: str) -> Callable[[Source, str], Header] | None:
    """The reader of NumPy's, Flax's or HDF5's files, imported only when needed. MessagePack has no magic number."""
    archive = magic[:4] == b"PK\3\4"
    if magic[:6] == b"\x93NUMPY" or (archive and path.endswith(".npz")):
        from inspector.formats import numpy

        return numpy.read
    if path.endswith(HDF5):
        from inspector.formats import hdf5

        return hdf5.read if archive or hdf5.begins(source) is not None else None
    if path.endswith(".msgpack") and magic[:1] in _MAPS:
        from inspector.formats import flax

        return flax.read
    return None


def impostor(start: bytes) -> tuple[Code, str] | None:
    """The rule about a file that is often found in place of weights, and what it is, by its first bytes."""
    start = start[:_LONGEST].lower().removeprefix(b"\xef\xbb\xbf").lstrip()
    found = re.match(_AN_IMPOSTOR, start)
    return _BY_MAGIC[found[0]] if found else None


def _explain_impostor(source: Source, path: str, error: FormatError) -> None:
    """Raise a more helpful error for a file of a well-known kind that is not a weight file."""
    start = source.read(0, min(source.size, _LONGEST))
    if int.from_bytes(start[:8], "little") <= source.size - 8:  # a plausible header: the resemblance is a coincidence
        return
    if found := impostor(start):
        raise FormatError(f"{escape(path)} is {found[1]}", found[0]) from error
    _refuse_foreign(source, path)
    start = start.lower().removeprefix(b"\xef\xbb\xbf").lstrip()
    if source.size >= 8 and start and all(byte in _TEXT for byte in start):
        raise FormatError(f"{escape(path)} is a text file, not weights", "not-weights") from error
    if not path.endswith(WEIGHTS[0]):
        what = "begins as none of the formats that are read do, PyTorch's included: another program's, or damaged"
        raise FormatError(f"{escape(path)} {what}", error.rule) from error
