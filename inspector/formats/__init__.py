"""Weight file formats. Each module reads one: `matches(first_bytes)`, and `read(source, path) -> Header`."""

from __future__ import annotations

from inspector.errors import FormatError
from inspector.model import Header
from inspector.sources import Source
from inspector.units import escape, plural

#: First bytes of what is often found where weights should be → what it is, and what to do.
IMPOSTORS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "a git-LFS pointer, not the weights: run `git lfs pull` in its folder"),
    (b"<!doctype", "an HTML page, not weights: the download got a web page; download it again"),
    (b"<html", "an HTML page, not weights: the download got a web page; download it again"),
    (b"<?xml", "an XML document, not weights: the download got an error page; download it again"),
    (b'{"error', "a JSON error message, not weights: the download was refused; log in and download it again"),
    (b"PK\x03\x04", "a ZIP archive (PyTorch's pickle format), not safetensors or GGUF: pickle is never opened"),
    (b"\x80\x02", "a pickle, not safetensors or GGUF: it is never opened, for opening one runs its code"),
    (b"\x80\x04", "a pickle, not safetensors or GGUF: it is never opened, for opening one runs its code"),
    (b"\x89HDF", "an HDF5 file (Keras), not safetensors or GGUF"),
    (b"\x1f\x8b", "gzip-compressed: unpack it first"),
    (b"ggjt", "a GGJT file, older than GGUF: convert it with llama.cpp"),
    (b"lmgg", "a GGML file, older than GGUF: convert it with llama.cpp"),
)


def read(source: Source, path: str) -> Header:
    """The header of a weight file, told by its first bytes rather than by its name.

    Raises:
        FormatError: neither format, or a header that cannot be read.
        SourceError: the bytes cannot be had.
    """
    from inspector.formats import safetensors  # noqa: PLC0415  one format's reader is loaded when met

    if source.size == 0:
        raise FormatError(f"{escape(path)} is empty: the download never began, or the disk was full")
    start = source.read(0, min(source.size, 24))
    lowered = start.lower().lstrip()
    for magic, what in IMPOSTORS:
        if lowered.startswith(magic.lower()):
            raise FormatError(f"{escape(path)} is {what}")
    if start.startswith((b"GGUF", b"FUGG")):
        from inspector.formats import gguf  # noqa: PLC0415

        return gguf.read(source, path)
    if source.size < safetensors.LENGTH_BYTES:
        raise FormatError(f"{escape(path)} has {plural(source.size, 'byte')}: too short for any weight file")
    return safetensors.read(source, path)
