"""One pass over the data of weight files, on all processors. Files to hash are hashed from the same bytes.

measured = measure(headers, place.open, hashed=…)
measured.facts[path, name]        # the facts about a tensor
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.facts import BLOCKS, Copy, Facts, Measured
from inspector.auditing.values.numbers.pieces import facts_of
from inspector.errors import InspectorError, NetworkError, UsageError
from inspector.formats import decoding
from inspector.measuring import needs
from inspector.measuring.stored import Opened
from inspector.model import Finding, Header, Tensor
from inspector.sources import Source, workers

Array = NDArray[Any]
#: Bytes that are examined together: they stay in a processor's cache.
PIECE = 1 << 20
#: Bytes that one thread takes at a time, if order does not matter.
SHARE = 16 << 20
#: The fewest bytes of a piece for which copies are searched.
LEAST_ANCHORED = 2048
#: Bytes of all files → `bits`, where one word in 2**bits is an anchor, and `step`: copies are found if they are a
#: multiple of it apart, in bytes. A hundred gigabytes have at most some 1,000,000 anchors.
_RATES = ((64 << 20, (6, 1)), (1 << 30, (10, 2)), (1 << 62, (12, 8)))
_PLAIN = frozenset({"BOOL", "I64", "U64"})


class _Piece(NamedTuple):
    """Some bytes of a file, belonging to one tensor or none."""

    offset: int
    size: int
    tensor: Tensor | None = None
    start: int = 0  # number of its first element, or block
    dtype: str = ""


def read(
    subject: Subject, hashed: Collection[str] = (), progress: Callable[[int], object] = lambda _: None
) -> list[Finding]:
    """Examine all tensors of a model's files, for the rules; what cannot be read is a finding. Arguments as for
    `measure`."""
    try:
        subject.measured = measure(subject.all_headers, subject.place.open, hashed, progress)
    except (NetworkError, UsageError):
        raise
    except InspectorError as error:
        return [Finding("not-judged", "error", f"its data cannot be read: {error}")]
    return []


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
    work = _Pass(headers, Opened(opened), next(rate for most, rate in _RATES if total <= most), progress)
    shares: list[tuple[int, list[_Piece], bool]] = []
    for number, header in enumerate(headers):
        if header.path in hashed:
            shares.append((number, [*_everything(header)], True))
        else:
            shares += [(number, share, False) for share in _shares(header)]
    shares.sort(key=lambda share: -sum(piece.size for piece in share[1]))
    try:
        workers.each(lambda share: work.look(*share), shares, os.cpu_count() or 1)
        found = work.copies()
    finally:
        work.files.close()
    return Measured(work.facts, tuple(header.path for header in headers), tuple(found), work.digests, work.bytes_read)


def _pieces(header: Header, tensor: Tensor) -> Iterator[_Piece]:
    """A tensor's bytes, as far as the file has them, split between elements or blocks."""
    dtype, unit = _unit(header, tensor)
    size = min(tensor.nbytes, max(0, header.size - tensor.offset)) // unit * unit
    in_units = dtype in BLOCKS or dtype in decoding.UNITS or unit == 1
    if not in_units and unit * tensor.elements != tensor.nbytes:  # an archive's compressed bytes
        yield from _gap(tensor.offset, tensor.offset + size)
        return
    step = PIECE // unit * unit
    for at in range(0, size, step):
        yield _Piece(tensor.offset + at, min(step, size - at), tensor, at // unit, dtype)


def _unit(header: Header, tensor: Tensor) -> tuple[str, int]:
    """The dtype for examining a tensor's bytes, and the bytes of its smallest whole unit."""
    if header.format == "gguf" and tensor.dtype in BLOCKS:
        return tensor.dtype, BLOCKS[tensor.dtype]
    backwards = any(finding.rule == "big-endian" for finding in header.findings)
    if backwards or not decoding.is_known(tensor.dtype):
        return "U8", 1
    return tensor.dtype, decoding.width(tensor.dtype)


def _shares(header: Header) -> Iterator[list[_Piece]]:
    """Pieces for one thread at a time."""
    share, size = list[_Piece](), 0
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
        start = min(tensor.offset, header.size)
        yield from _gap(at, start)
        at = max(at, start)
        for piece in _pieces(header, tensor):
            yield piece
            at = piece.offset + piece.size
    yield from _gap(at, header.size)


def _gap(start: int, end: int) -> Iterator[_Piece]:
    for at in range(start, end, PIECE):
        yield _Piece(at, min(PIECE, end - at))


class _Pass:
    """The open files, and the results so far."""

    def __init__(
        self, headers: Sequence[Header], files: Opened, rate: tuple[int, int], progress: Callable[[int], object]
    ) -> None:
        self._headers, self.files, self._rate, self._progress = headers, files, rate, progress
        self._lock = Lock()
        self._anchors: list[tuple[int, Array, Array]] = []
        self.facts = {(header.path, tensor.name): Facts() for header in headers for tensor in header.tensors}
        self.digests: dict[str, str] = {}
        self.bytes_read = 0

    def look(self, number: int, pieces: Sequence[_Piece], hashing: bool) -> None:
        """Process pieces of one file, in order."""
        path = self._headers[number].path
        if not hashing:
            buffer = np.empty(PIECE, np.uint8)
            for piece in pieces:
                self._examine(number, piece, self.files.read_into(path, piece.offset, buffer[: piece.size]))
            return
        digest = hashlib.sha256()
        with ThreadPoolExecutor(1) as beside:  # hashing takes longest: it runs in parallel with the rest
            pending: list[Future[None] | None] = [None, None]
            buffers = [np.empty(PIECE, np.uint8) for _ in pending]
            for turn, piece in enumerate(pieces):
                last = pending[turn % 2]
                if last is not None:
                    last.result()
                raw = self.files.read_into(path, piece.offset, buffers[turn % 2][: piece.size])
                pending[turn % 2] = beside.submit(digest.update, memoryview(raw))  # type: ignore[arg-type]
                self._examine(number, piece, raw)
        self.digests[path] = digest.hexdigest()

    def _examine(self, number: int, piece: _Piece, raw: Array) -> None:
        found = piece.tensor and facts_of(raw, piece.dtype, piece.offset, piece.start)
        marked = self._marked(number, piece, raw) if found else []
        with self._lock:
            if piece.tensor and found:
                self.facts[self._headers[number].path, piece.tensor.name].join(found)
            self._anchors += marked
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
        return copies(files, places, marks, self._bytes, [header.size for header in self._headers])

    def _bytes(self, number: int, at: int, size: int) -> bytes:
        return self.files.read(self._headers[number].path, at, size)


Read = Callable[[int, int, int], bytes]  # file, start, length
#: Bytes that are compared at once, and the least that count as a copy.
STEP, LEAST = 4096, 1024
#: The most copies that are searched for: a repeated layer has thousands of anchors, but is one copy.
MOST = 2000
#: Bits that are random in every kind of weight: the lower bits of a mantissa, even of BF16 converted to F32.
_ANCHOR = 0x003F0000003F0000
_WANTED = np.uint64(0x0015_0000_002A_0000)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def anchors(raw: Array, offset: int, bits: int, step: int) -> tuple[Array, Array]:
    """Content-defined positions, one in 2**bits words, and a number for the sixteen bytes there.

    The same bytes yield the same positions wherever they are, if a multiple of `step` bytes apart; `step` divides 8.
    """
    low, high = (1 << (bits + 1) // 2) - 1, (1 << bits // 2) - 1  # half of the bits from each half of a word
    mask = np.uint64((low << 16 | high << 48) & _ANCHOR)
    found = []
    for turn in range(0, 8, step):
        skip = (turn - offset) % 8
        words = raw[skip : skip + max(0, raw.size - skip) // 8 * 8].view("<u8")
        places = np.flatnonzero((words[:-1] & mask) == (_WANTED & mask))
        found.append((places * 8 + (offset + skip), words[places] * _MIX ^ words[places + 1]))
    return np.concatenate([places for places, _ in found]), np.concatenate([marks for _, marks in found])


def copies(files: Array, places: Array, marks: Array, read: Read, sizes: list[int]) -> list[Copy]:
    """Blocks that occur exactly twice: more often is a pattern, not a copy made by mistake.

    Args:
        files, places, marks: for each anchor the file's number, its offset, and its fingerprint.
        sizes: bytes of each file.
    """
    order = np.argsort(marks, kind="stable")
    same = marks[order][1:] == marks[order][:-1]
    first = np.flatnonzero(same)
    alone = ~np.isin(first - 1, first, assume_unique=True) & ~np.isin(first + 1, first, assume_unique=True)
    where = [[(int(files[at]), int(places[at])) for at in order[[at, at + 1]]] for at in first[alone].tolist()]
    found: list[Copy] = []
    last: dict[tuple[int, int, int], Copy] = {}
    for (file, start), (other_file, other) in sorted(sorted(pair) for pair in where):
        key = (file, other_file, other - start)
        known = last.get(key)
        if known is not None and start < known.start + known.size:
            continue
        if len(found) >= MOST:
            break
        at = Copy(file, start, other_file, other, 0)
        before, after = _equal(at, read, sizes, back=True), _equal(at, read, sizes, back=False)
        copy = last[key] = Copy(file, start - before, other_file, other - before, before + after)
        if copy.size >= LEAST:
            found.append(copy)
    return found


def _equal(at: Copy, read: Read, sizes: list[int], *, back: bool) -> int:
    """The number of equal bytes before, or after, two positions."""
    done, step = 0, STEP
    most = min(at.start, at.other) if back else min(sizes[at.file] - at.start, sizes[at.other_file] - at.other)
    while (length := min(step, most - done)) > 0:
        ahead = -done - length if back else done
        one, two = read(at.file, at.start + ahead, length), read(at.other_file, at.other + ahead, length)
        differ = np.flatnonzero(np.frombuffer(one, np.uint8) != np.frombuffer(two, np.uint8))
        if differ.size:
            return done + (length - 1 - int(differ[-1]) if back else int(differ[0]))
        done += length
        step = min(step * 2, 1 << 20)
    return done
