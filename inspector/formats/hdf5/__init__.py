"""HDF5, as Keras and TensorFlow's models of Transformers are saved: read by the h5py package, if it is installed.

Names are the paths to datasets, with dots: `dense.dense.kernel`. Links to other files are not followed, and no data is
read. HDF5's library is written in C and not hardened against hostile files: `structure` reads what an audit needs.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import prod
from typing import Any

from inspector.errors import FormatError, UsageError, install_command
from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.hdf5.structure import start_of
from inspector.formats.regions import around
from inspector.model import Header, Tensor
from inspector.model.codes import Code
from inspector.sources import Source
from inspector.units import escape, plural

MAGIC = b"\x89HDF\r\n\x1a\n"
#: The record of a `.keras` archive that holds the weights.
IN_KERAS = "model.weights.h5"
MAX_DATASETS = 200_000
#: The most chunks of one dataset that are located; beyond that only their bytes are counted.
MAX_CHUNKS = 10_000
_BLOCK = 1 << 16
#: First byte of a superblock's address of the end, in addresses after its fixed fields; by its version (II.A).
_ENDS = {0: (24, 13), 1: (28, 13), 2: (12, 9), 3: (12, 9)}
_KINDS = {"f": "F", "i": "I", "u": "U", "c": "C"}


def read(source: Source, path: str) -> Header:
    """The datasets of a file, or of the weights in a `.keras` archive.

    Raises:
        FormatError: not HDF5, or damaged.
        UsageError: h5py is not installed.
        SourceError: the bytes cannot be read.
    """
    findings = Findings(path)
    start, size, end = _place_of_weights(source, path)
    findings.check_end(end, source.size)
    try:
        import h5py  # a C library, only for these files
    except ImportError as error:
        what = f"{escape(path)} is an HDF5 file: to read it, `{install_command('hdf5')}`"
        raise UsageError(what) from error
    try:
        with h5py.File(_PartOfFile(source, start, size), "r") as file:
            found = [*_datasets(file, h5py, findings)]
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        rule: Code = "truncated" if end > source.size else "unreadable-file"
        raise FormatError(f"{escape(path)} cannot be read as HDF5: {escape(str(error), 120)}", rule) from error
    tensors = [tensor._replace(offset=tensor.offset + start if tensor.offset else 0) for tensor, _ in found]
    claimed = [(begin + start, end + start) for _, ranges in found for begin, end in ranges]
    rest = "archive" if path.endswith(".keras") else "header"
    return Header(path, "hdf5", source.size, tensors, around(claimed, source.size, rest, end), {}, findings.all())


def end_of(source: Source, path: str) -> int:
    """Where a file ends according to itself, so that h5py need not be asked. Raises FormatError."""
    return _place_of_weights(source, path)[2]


def _place_of_weights(source: Source, path: str) -> tuple[int, int, int]:
    """Where the HDF5 file starts, its bytes, and where the whole file ends according to itself. Raises FormatError."""
    if (start := begins(source)) is not None:
        head = bytes(source.prefix(64)[:64]) if not start else bytes(source.read(start, min(64, source.size - start)))
        return start, source.size - start, _stated_end(head, source.size)
    read_at = zips.clipped(source.read, source.size)
    try:
        members = zips.members(read_at, source.size)
        found = next((each for each in members if each.name == IN_KERAS and each.method == zips.STORED), None)
        if found is not None:
            return zips.data_start(read_at, found), found.compressed, zips.end_of(read_at, source.size)
    except zips.ZipError as error:
        raise FormatError(f"{escape(path)} begins as a ZIP archive, and {error}", "truncated") from error
    raise FormatError(f"{escape(path)} has no uncompressed {IN_KERAS}", "not-weights")


def begins(source: Source) -> int | None:
    """Where the superblock is: at the start, or after a block of the user's own (II.A); None if it is no HDF5 file."""
    if bytes(source.prefix(8)[:8]) == MAGIC:
        return 0
    return start_of(lambda at, length: bytes(source.read(at, min(length, source.size - at))), source.size)


def _stated_end(head: bytes, size: int) -> int:
    """The end-of-file address in a superblock, which the library compares with the size; the size if it has none."""
    first, at = _ENDS.get(head[8] if len(head) > 8 else -1, (0, 0))
    width = head[at] if len(head) > at else 0
    found = head[first + 2 * width : first + 3 * width] if first and width in (2, 4, 8) else b""
    stated = int.from_bytes(found, "little")
    return stated if found and stated != (1 << 8 * width) - 1 else size


def _datasets(file: Any, h5py: Any, findings: Findings) -> Iterator[tuple[Tensor, list[tuple[int, int]]]]:
    """Each dataset with its ranges in the file."""
    pending = [("", file)]
    seen: set[tuple[int, int]] = set()
    count = 0
    while pending:
        name, group = pending.pop()
        info = h5py.h5o.get_info(group.id)
        if (info.fileno, info.addr) in seen:
            continue
        seen.add((info.fileno, info.addr))
        inner = []
        for key in group:
            full = f"{name}.{key}" if name else str(key)
            link = group.get(key, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                findings.add("index-path", "warning", f"a link to {link.filename!r:.80}: not followed", full)
                continue
            each = group.get(key)
            count += 1
            if count > MAX_DATASETS:
                raise ValueError("more datasets than any model has")
            if isinstance(each, h5py.Group):
                inner.append((full, each))
            elif isinstance(each, h5py.Dataset) and each.dtype.kind != "O" and each.shape is not None:
                yield _tensor_of(full, each, findings)
        pending += reversed(inner)


def _tensor_of(name: str, found: Any, findings: Findings) -> tuple[Tensor, list[tuple[int, int]]]:
    name = name.removesuffix(":0")
    dtype, shape = found.dtype, tuple(int(size) for size in found.shape)
    word = (
        "BOOL"
        if dtype.kind == "b" or dtype.name == "bool"
        else f"{_KINDS.get(dtype.kind, dtype.kind)}{8 * dtype.itemsize}"
    )
    if dtype.byteorder == ">":
        findings.add("big-endian", "info", "its numbers are big-endian", name)
    if found.external:
        findings.add("index-path", "warning", f"its numbers are in {str(found.external[0][0])!r:.80}: not read", name)
        return Tensor(name, word, shape, 0, 0), []
    offset, nbytes = found.id.get_offset(), int(found.id.get_storage_size())
    if offset is not None:
        return Tensor(name, word, shape, int(offset), nbytes), [(int(offset), int(offset) + nbytes)]
    if nbytes and found.chunks:
        findings.add("view", "info", f"stored in chunks of {'×'.join(map(str, found.chunks))}", name)
        chunks = found.id.get_num_chunks()
        infos = [found.id.get_chunk_info(at) for at in range(min(chunks, MAX_CHUNKS))]
        ranges = [(int(each.byte_offset), int(each.byte_offset) + int(each.size)) for each in infos]
        return Tensor(name, word, shape, 0, nbytes), ranges
    if prod(shape) and not nbytes:
        findings.add("storage", "warning", f"{plural(prod(shape), 'element')} that were never written", name)
    return Tensor(name, word, shape, 0, 0), []


class _PartOfFile(io.RawIOBase):
    """A part of a file, in the form h5py expects. Whole blocks are read, and the latest are kept."""

    def __init__(self, source: Source, start: int, size: int) -> None:
        self._source, self._start, self._size = source, start, size
        self._at = 0
        self._blocks: dict[int, bytes] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0 if whence == io.SEEK_SET else self._at if whence == io.SEEK_CUR else self._size)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and self._at < self._size:
            block, skip = divmod(self._at, _BLOCK)
            found = self._read_block(block)[skip : skip + len(view) - done]
            view[done : done + len(found)] = found
            done += len(found)
            self._at += len(found)
        return done

    def _read_block(self, number: int) -> bytes:
        if number not in self._blocks:
            if len(self._blocks) >= 256:
                self._blocks.pop(next(iter(self._blocks)))
            start = number * _BLOCK
            self._blocks[number] = self._source.read(self._start + start, min(_BLOCK, self._size - start))
        return self._blocks[number]
