"""One pass over the data of weight files, on all processors. Files to hash are hashed from the same bytes.

measured = measure(headers, place.open, hashed=…)
measured.facts[path, name]        # the facts about a tensor
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.values.numbers import copies as twice
from inspector.auditing.values.numbers.copies import Copy
from inspector.auditing.values.numbers.facts import Facts
from inspector.auditing.values.numbers.glance import anchors, glance
from inspector.formats import decoding
from inspector.formats.gguf.types import TYPES
from inspector.measuring import needs
from inspector.model import Header, Tensor
from inspector.sources import Source, workers
from inspector.sources.local import LocalFile

Array = NDArray[Any]
#: Bytes that are examined together: they stay in a processor's cache.
PIECE = 1 << 20
#: Bytes that one thread takes at a time, if order does not matter.
SHARE = 16 << 20
#: The least bytes of a piece's neighbourhood for which copies are searched.
LEAST_ANCHORED = 2048
#: Bytes of all files → one of 2**bits words is an anchor, and by how many bytes copies have to lie apart: some
#: 1,000,000 anchors at most of a hundred gigabytes.
_RATES = ((64 << 20, (6, 1)), (1 << 30, (10, 2)), (1 << 62, (12, 8)))
_BLOCKS = {kind.name: kind.nbytes for kind in TYPES.values() if kind.block > 1}
_PLAIN = frozenset({"BOOL", "I64", "U64"})


class Measured(NamedTuple):
    """The measured facts about a model's data."""

    facts: Mapping[tuple[str, str], Facts]  # (file, tensor)
    paths: tuple[str, ...]  # the files that `copies` numbers
    copies: tuple[Copy, ...]
    digests: Mapping[str, str]  # file → SHA-256 in hexadecimal, for the files to hash
    bytes_read: int


class _Piece(NamedTuple):
    """Some bytes of a file, belonging to one tensor or none."""

    offset: int
    size: int
    tensor: Tensor | None = None
    start: int = 0  # number of its first element, or block
    dtype: str = ""


def measure(
    headers: Sequence[Header],
    opened: Callable[[str], Source],
    hashed: Collection[str] = (),
    progress: Callable[[int], object] = lambda _: None,
) -> Measured:
    """Examine every tensor of the files.

    Args:
        hashed: paths among them whose SHA-256 is requested.
        progress: called with the number of bytes done since the last call, from several threads.

    Raises:
        UsageError: NumPy is not installed.
        SourceError: a file cannot be read.
    """
    needs.check()
    total = sum(header.bytes_in("tensors") for header in headers)
    job = _Job(headers, opened, next(rate for most, rate in _RATES if total <= most), progress)
    whole = [number for number, header in enumerate(headers) if header.path in hashed]
    shares: list[tuple[int, list[_Piece]]] = [(number, list(_everything(headers[number]))) for number in whole]
    for number, header in enumerate(headers):
        if header.path not in hashed:
            shares += [(number, share) for share in _shares(header)]
    shares.sort(key=lambda share: -sum(piece.size for piece in share[1]))
    try:
        workers.each(lambda share: job.look(*share, hashing=share[0] in whole), shares, os.cpu_count() or 1)
        found = job.copies()
    finally:
        job.close()
    paths = tuple(header.path for header in headers)
    return Measured(job.facts, paths, tuple(found), job.digests, job.bytes_read)


# --- pieces ---------------------------------------------------------------------------------------


def _pieces(header: Header, tensor: Tensor) -> Iterator[_Piece]:
    """A tensor's bytes, as far as the file has them, split between elements or blocks."""
    dtype, unit = _unit(header, tensor)
    size = min(tensor.nbytes, max(0, header.size - tensor.offset)) // unit * unit
    if not _is_plain(tensor, dtype, unit):
        yield from _gap(tensor.offset, tensor.offset + size)
        return
    step = PIECE // unit * unit
    for at in range(0, size, step):
        yield _Piece(tensor.offset + at, min(step, size - at), tensor, at // unit, dtype)


def _unit(header: Header, tensor: Tensor) -> tuple[str, int]:
    """The dtype for examining a tensor's bytes, and the bytes of its smallest whole unit."""
    if header.format == "gguf" and tensor.dtype in _BLOCKS:
        return tensor.dtype, _BLOCKS[tensor.dtype]
    backwards = any(finding.rule == "big-endian" for finding in header.findings)
    if backwards or not decoding.is_known(tensor.dtype):
        return "U8", 1
    return tensor.dtype, decoding.width(tensor.dtype)


def _is_plain(tensor: Tensor, dtype: str, unit: int) -> bool:
    """Whether a tensor's bytes are its elements, and not an archive's compressed ones."""
    return dtype in _BLOCKS or dtype in decoding.UNITS or unit * tensor.elements == tensor.nbytes or unit == 1


def _shares(header: Header) -> Iterator[list[_Piece]]:
    """Pieces for one thread at a time."""
    share: list[_Piece] = []
    size = 0
    for tensor in sorted(header.tensors, key=lambda each: each.offset):
        for piece in _pieces(header, tensor):
            share.append(piece)
            size += piece.size
            if size >= SHARE:
                yield share
                share, size = [], 0
    if share:
        yield share


def _everything(header: Header) -> Iterator[_Piece]:
    """The whole file in order, including bytes outside tensors. Overlapping bytes are not examined twice."""
    at = 0
    for tensor in sorted(header.tensors, key=lambda each: each.offset):
        if tensor.offset < at:
            continue
        yield from _gap(at, min(tensor.offset, header.size))
        at = max(at, min(tensor.offset, header.size))
        for piece in _pieces(header, tensor):
            yield piece
            at = piece.offset + piece.size
    yield from _gap(at, header.size)


def _gap(start: int, end: int) -> Iterator[_Piece]:
    for at in range(start, end, PIECE):
        yield _Piece(at, min(PIECE, end - at))


# --- work -----------------------------------------------------------------------------------------


class _Job:
    """The pass: its results so far, and the open files."""

    def __init__(
        self,
        headers: Sequence[Header],
        opened: Callable[[str], Source],
        rate: tuple[int, int],
        progress: Callable[[int], object],
    ) -> None:
        self._headers, self._opened, self._rate, self._progress = headers, opened, rate, progress
        self._sources: dict[int, Source] = {}
        self._lock = RLock()
        self._anchors: list[tuple[int, Array, Array]] = []
        self.facts: dict[tuple[str, str], Facts] = {
            (header.path, tensor.name): Facts() for header in headers for tensor in header.tensors
        }
        self.digests: dict[str, str] = {}
        self.bytes_read = 0

    def close(self) -> None:
        for source in self._sources.values():
            source.close()

    def look(self, number: int, pieces: Sequence[_Piece], *, hashing: bool) -> None:
        """Process pieces of one file, in order."""
        source = self._source(number)
        if not hashing:
            buffer = np.empty(PIECE, np.uint8)
            for piece in pieces:
                self._glance(number, piece, self._filled(source, piece, buffer))
            return
        digest = hashlib.sha256()
        with ThreadPoolExecutor(1) as beside:  # hashing takes longest: it runs in parallel with the rest
            pending: list[Future[None] | None] = [None, None]
            buffers = [np.empty(PIECE, np.uint8) for _ in pending]
            for turn, piece in enumerate(pieces):
                last = pending[turn % 2]
                if last is not None:
                    last.result()
                raw = self._filled(source, piece, buffers[turn % 2])
                pending[turn % 2] = beside.submit(digest.update, memoryview(raw))  # type: ignore[arg-type]
                self._glance(number, piece, raw)
        self.digests[self._headers[number].path] = digest.hexdigest()

    def _glance(self, number: int, piece: _Piece, raw: Array) -> None:
        if piece.tensor is not None:
            found = glance(raw, piece.dtype, piece.offset, piece.start)
            marked = self._marked(number, piece, raw)
            with self._lock:
                self.facts[self._headers[number].path, piece.tensor.name].join(found)
                self._anchors += marked
        with self._lock:
            self.bytes_read += raw.size
        self._progress(raw.size)

    def _marked(self, number: int, piece: _Piece, raw: Array) -> list[tuple[int, Array, Array]]:
        """The anchors of a piece; none if its bytes are too uniform."""
        if raw.size < LEAST_ANCHORED or piece.dtype in _PLAIN:
            return []
        bits, step = self._rate
        places, marks = anchors(raw, piece.offset, bits, step)
        usual = (raw.size // step) >> bits
        return [(number, places, marks)] if 0 < places.size <= 64 + 8 * usual else []

    def copies(self) -> list[Copy]:
        """Duplicate blocks among all files."""
        if not self._anchors:
            return []
        files = np.concatenate([np.full(places.size, number, np.int32) for number, places, _ in self._anchors])
        places = np.concatenate([places for _, places, _ in self._anchors])
        marks = np.concatenate([marks for _, _, marks in self._anchors])
        sizes = [header.size for header in self._headers]
        return twice.copies(files, places, marks, self._bytes, sizes)

    def _bytes(self, number: int, at: int, size: int) -> bytes:
        return self._source(number).read(at, size) if size > 0 else b""

    def _filled(self, source: Source, piece: _Piece, buffer: Array) -> Array:
        """A piece's bytes. A local file is read into the buffer, without a copy in between, by any thread."""
        if isinstance(source, LocalFile):
            return buffer[: source.read_into(buffer.data[: piece.size], piece.offset)]
        with self._lock:  # a network source is for one thread at a time
            return np.frombuffer(source.read(piece.offset, piece.size), np.uint8)

    def _source(self, number: int) -> Source:
        with self._lock:
            if number not in self._sources:
                self._sources[number] = self._opened(self._headers[number].path)
            return self._sources[number]
