"""Examines a piece of a tensor: a few passes over its bytes, in the processor's cache.

NaN, infinity and the largest magnitude are read from the bits: for floats of one sign, larger bits mean larger numbers.
Facts about the distribution come from a sample of evenly spaced numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.values.numbers.facts import BLOCKS, Facts, Run
from inspector.formats import decoding
from inspector.formats.gguf.blocks import IQ1_M_SCALES, SCALES

Array = NDArray[Any]
#: Numbers of a piece that are sampled.
SAMPLE = 2048
#: The least sample size for facts about a distribution.
ENOUGH = 48
#: Bytes that are checked for repetition together: a sector, the smallest hole of a sparse file.
CELL = 512
#: The shortest runs that are kept: shorter ones mean nothing.
LEAST_RUN = 1024
#: Bytes between the positions where text is searched, and of text that identify it.
STEP, TEXT = 64, 64
#: Bytes in which spaces are counted, and the most of them for each space: English has one in six.
LONGER, SPACED = 256, 16


class Bits(NamedTuple):
    """A float whose bits NumPy compares as integers."""

    width: int  # bytes
    infinity: int  # the bits of infinity, or the least of NaN


_FLOATS: Mapping[str, Bits] = {
    "BF16": Bits(2, 0x7F80),
    "F16": Bits(2, 0x7C00),
    "F32": Bits(4, 0x7F800000),
    "F64": Bits(8, 0x7FF0000000000000),
    "F8_E4M3": Bits(1, 0x7F),
    "F8_E5M2": Bits(1, 0x7C),
}
#: Dtypes of packed words, plain integers, or unsigned floats.
_BYTES = frozenset({"U8", "I8", "I16", "U16", "I32", "U32", "I64", "U64", "BOOL", "F8_E8M0"})


@np.errstate(all="ignore")  # NaN and infinity are counted
def facts_of(raw: Array, dtype: str, offset: int, start: int) -> Facts:
    """The facts about a piece.

    Args:
        raw: bytes, whole elements or blocks.
        offset: of the first byte in the file.
        start: number of the first element, or block, in the tensor.
    """
    found = _blocks(raw, dtype, start) if dtype in BLOCKS else _numbers(raw, dtype, start)
    look_at_bits(found, raw, dtype, offset)
    found.runs = _runs(raw, offset)
    found.text = _text(raw, offset, scales=dtype == "F8_E4M3")
    return found


def _numbers(raw: Array, dtype: str, start: int) -> Facts:
    """The facts about numbers, or about the words of packed ones."""
    found = Facts()
    if not raw.size:
        return found
    if dtype in _FLOATS:
        _floats(found, raw, dtype, start)
    elif dtype in _BYTES:
        bits = raw.view(f"<u{decoding.width(dtype)}")
        found.numbers, found.least_bits, found.most_bits = bits.size, int(bits.min()), int(bits.max())
        if dtype == "F8_E8M0" and found.most_bits == 255:
            found.nan = int((bits == 255).sum())
            found.first_odd = start + int(np.argmax(bits == 255))
    elif decoding.is_known(dtype) and (values := decoding.decoded(raw.tobytes(), dtype)).size:
        found.numbers, found.least_bits = values.size, 0
        found.most_bits = int(values.min() != values.max()) if values.any() else 0
        _extremes(found, values, start)
        _distribution(found, values[:: max(1, values.size // SAMPLE)])
    return found


def _floats(found: Facts, raw: Array, dtype: str, start: int) -> None:
    width, infinity = _FLOATS[dtype]
    bits = raw.view(f"<u{width}")
    sign = 1 << (8 * width - 1)
    highest, positive = int(bits.max()), int(bits.view(f"<i{width}").max())
    found.numbers, found.least_bits, found.most_bits = bits.size, int(bits.min()), highest
    if positive >= infinity or highest >= sign + infinity:
        _extremes(found, decoding.decoded(raw.tobytes(), dtype), start)
    else:
        largest = max(positive, highest & (sign - 1) if highest >= sign else -1)
        found.largest = float(decoding.decoded(largest.to_bytes(width, "little"), dtype)[0])
    _distribution(found, decoding.decoded(bits[:: max(1, bits.size // SAMPLE)].tobytes(), dtype))


def _extremes(found: Facts, values: Array, start: int) -> None:
    """The largest of numbers among which may be NaN and infinite ones."""
    usual = np.isfinite(values)
    if not usual.all():
        found.nan = int(np.isnan(values).sum())
        found.inf = int((values == np.inf).sum())
        found.minus_inf = int((values == -np.inf).sum())
        found.first_odd = start + int(np.argmin(usual))
    found.largest = float(np.abs(values[usual]).max()) if usual.any() else 0.0


def _distribution(found: Facts, sample: Array) -> None:
    """Sums, and the quartiles of the magnitudes."""
    values = sample.astype(np.float64)
    values = values[np.isfinite(values)]
    size = np.abs(values)
    present = size[size > 0]
    found.sampled = values.size
    found.zeros = values.size - present.size
    found.total, found.squares = float(values.sum()), float(np.minimum(np.square(size), 1e300).sum())
    if present.size >= ENOUGH:
        low, middle, high = np.percentile(np.log2(present), (25, 50, 75))
        found.spread, found.middle, found.middle_of = float(high - low), float(middle), present.size


#: The most bytes of other values in a block without a scale: writers give all its numbers the same code.
FLAT = 8


def _blocks(raw: Array, dtype: str, start: int) -> Facts:
    """The facts about the scales of quantized blocks."""
    found = Facts()
    blocks = raw.reshape(-1, BLOCKS[dtype])
    if dtype == "IQ1_M":
        words = np.ascontiguousarray(blocks[:, IQ1_M_SCALES:]).view("<u2") >> 12
        joined = words[:, 0] | words[:, 1] << 4 | words[:, 2] << 8 | words[:, 3] << 12
        return _numbers(joined.astype("<u2").view(np.uint8), "F16", start)
    if dtype not in SCALES:
        return found
    kind = SCALES[dtype].dtype
    scaled = np.zeros(len(blocks), bool)
    for place in SCALES[dtype].places:
        own = np.ascontiguousarray(blocks[:, place : place + decoding.width(kind)])
        found.join(_numbers(own.reshape(-1), kind, start))
        scaled |= own.any(axis=1)
    unscaled = [each for each in np.flatnonzero(~scaled)[:SAMPLE].tolist() if len(np.unique(blocks[each])) > FLAT]
    if unscaled:  # blocks whose scales are zero, and whose numbers are not
        found.unscaled, found.first_unscaled = len(unscaled), start + unscaled[0]
    return found


def _runs(raw: Array, offset: int) -> list[Run]:
    """Repeating runs of eight bytes, found by whole cells on the file's grid, then extended to the byte."""
    skip = -offset % CELL
    cells = (raw.size - skip) // CELL
    if cells <= 0:
        return []
    words = raw[skip : skip + cells * CELL].view("<u8").reshape(cells, -1)
    flat = words[:, 0] == words[:, -1]
    flat &= words[:, 0] == words[:, 21]  # most cells differ in a few of their words
    places = np.flatnonzero(flat)
    flat[places] = (words[places] == words[places, :1]).all(axis=1)
    places = np.flatnonzero(flat)
    found = []
    for first, last in stretches(places, words[places, 0]):
        low, high = _widened(raw, skip + int(places[first]) * CELL, skip + (int(places[last]) + 1) * CELL)
        if high - low >= LEAST_RUN or low == 0 or high == raw.size:
            found.append(Run(offset + low, offset + high))
    return found


def _widened(raw: Array, low: int, high: int) -> tuple[int, int]:
    """A run of repeated bytes, extended into the adjacent cells."""
    pattern = raw[low : low + 8]
    first, last = max(0, low - CELL), min(raw.size, high + CELL)
    before = np.flatnonzero(raw[first:low][::-1] != np.resize(pattern[::-1], low - first))
    after = np.flatnonzero(raw[high:last] != np.resize(pattern, last - high))
    return low - int(before[0]) if before.size else first, high + int(after[0]) if after.size else last


_HIGH, _PRINTABLE = np.uint64(0x8080808080808080), np.uint64(0x4040404040404040)
_TEXT = np.zeros(256, bool)
_TEXT[[9, 10, 13, *range(32, 127)]] = True
_LETTERS = np.zeros(256, bool)
_LETTERS[[*range(65, 91), *range(97, 123), 32]] = True


def _text(raw: Array, offset: int, *, scales: bool) -> tuple[int, bytes] | None:
    """The start of text: eight printable bytes, with many more around them.

    Args:
        scales: whether they are floats of a byte, most of which are printable, such as NVFP4's scales.
    """
    skip = -offset % 8
    words = raw[skip : skip + (raw.size - skip) // 8 * 8].view("<u8")[:: STEP // 8]
    likely = (words & _HIGH) == 0
    likely &= ((words | words << np.uint64(1)) & _PRINTABLE) == _PRINTABLE
    for place in np.flatnonzero(likely)[:4096].tolist():
        at = skip + place * STEP
        piece = raw[at : at + TEXT]
        if piece.size == TEXT and _TEXT[piece].all() and _is_worded(piece) and not (scales and _is_unspaced(raw[at:])):
            begin = at
            while begin > 0 and at - begin < 1 << 16 and _TEXT[raw[begin - 1]]:
                begin -= 1
            return offset + begin, raw[begin : begin + 60].tobytes()
    return None


def _is_worded(piece: Array) -> bool:
    """Whether printable bytes are words: mostly letters, of many kinds, none of them every second one as in a table."""
    counts = np.bincount(piece)
    return bool(_LETTERS[piece].sum() > TEXT // 2 and np.count_nonzero(counts) > 11 and counts.max() * 3 <= TEXT)


def _is_unspaced(raw: Array) -> bool:
    """Whether bytes have fewer spaces and line breaks than text: a space is a byte far from letters, where numbers of
    similar sizes have few."""
    part = raw[:LONGER]
    return int(((part == 32) | (part == 10)).sum()) * SPACED < part.size


# Numbers with a stuck bit look plausible: a truncated mantissa, a sign that is always the same. They differ from
# rounded numbers in that the rest of the tensor has the bit.

#: Bytes whose bits are examined together.
PAGE = 4096


class Watch(NamedTuple):
    """Bits of a number that are set about half the time, in any weights."""

    width: int  # bytes of the number
    mask: int


#: The sign, and the mantissa's bits that rounding removes first. For packed words and blocks, all bits of a byte.
WATCHED: Mapping[str, Watch] = {
    "BF16": Watch(2, 0x8007),
    "F16": Watch(2, 0x803F),
    "F32": Watch(4, 0x8000FFFF),
    "F8_E4M3": Watch(1, 0x81),
    "F8_E5M2": Watch(1, 0x81),
    **dict.fromkeys(("I8", "U8", "I32", "U32", *BLOCKS), Watch(1, 0xFF)),
}


def stretches(places: Array, *values: Array) -> Iterator[tuple[int, int]]:
    """Indices of the first and last of consecutive places, as long as the values there are the same."""
    if not places.size:
        return
    breaks = np.diff(places) > 1
    for each in values:
        breaks |= each[1:] != each[:-1]
    ends = np.flatnonzero(breaks)
    yield from zip([0, *(ends + 1).tolist()], [*ends.tolist(), places.size - 1], strict=True)


def look_at_bits(found: Facts, raw: Array, dtype: str, offset: int) -> None:
    """Which bits are ever set and always set in a piece, and in which of its pages one of them does not vary."""
    watch = WATCHED.get(dtype)
    if watch is None or not raw.size:
        return
    # The pages of the file, provided that no number crosses their boundaries.
    skip = -offset % PAGE if offset % watch.width == 0 else 0
    count = max(0, raw.size - skip) // PAGE
    cells = raw[skip : skip + count * PAGE].view("<u8").reshape(count, PAGE // 8)
    rest = np.concatenate([raw[:skip], raw[skip:][count * PAGE :]]).view(f"<u{watch.width}")
    ever, always = _folded(np.bitwise_or, cells, watch), _folded(np.bitwise_and, cells, watch)
    found.ever = int(np.bitwise_or.reduce(np.append(ever, rest)))
    found.always = int(np.bitwise_and.reduce(np.append(always, rest)))
    mask = ever.dtype.type(watch.mask)
    never, still = ~ever & mask, always & mask
    places = np.flatnonzero(((never | still) != 0) & (ever != always))  # except for cells of one number
    never, still = never[places], still[places]
    for first, last in stretches(places, never, still):
        run = _pages(places, first, last, offset + skip)
        found.constant_bits.append(run._replace(never=int(never[first]), always=int(still[first])))
    if dtype in ("I8", "I32", "U32") and count:
        _evenness(found, cells, dtype, offset + skip)


def _folded(way: np.ufunc, cells: Array, watch: Watch) -> Array:
    """The combined bits of all numbers in each cell."""
    words = way.reduce(cells, axis=1)
    folded: Array = way.reduce(words.view(f"<u{watch.width}").reshape(len(words), 8 // watch.width), axis=1)
    return folded


def _pages(places: Array, first: int, last: int, offset: int) -> Run:
    return Run(offset + int(places[first]) * PAGE, offset + (int(places[last]) + 1) * PAGE)


#: Only one word in this many is examined.
EACH = 64
#: Variance of uniformly distributed half bytes, and of signed bytes.
_HALVES, _SIGNED = 21.25, 5461.25
#: The range of a cell's variance, relative to a uniform distribution's, that counts as even.
LEAST_EVEN, MOST_EVEN = 0.7, 1.3
#: The least expected number of codes per value for a meaningful χ².
LEAST_EXPECTED = 5


def _evenness(found: Facts, cells: Array, dtype: str, offset: int) -> None:
    """How widely packed codes are distributed: those of trained weights concentrate in the middle."""
    sample = np.ascontiguousarray(cells[:, ::EACH])
    even = sample.view(np.int8).astype(np.float32).var(axis=1) / _SIGNED if dtype == "I8" else _of_halves(sample)
    found.evenness, found.cells = float(even.sum()), len(cells)
    places = np.flatnonzero((even > LEAST_EVEN) & (even < MOST_EVEN))
    found.even = [_pages(places, first, last, offset) for first, last in stretches(places)]


def _of_halves(sample: Array) -> Array:
    octets = sample.view(np.uint8)
    low, high = octets & 15, octets >> 4
    number = 2 * octets.shape[1]
    sums = low.sum(axis=1, dtype=np.int64) + high.sum(axis=1, dtype=np.int64)
    squares = (low * low).sum(axis=1, dtype=np.int64) + (high * high).sum(axis=1, dtype=np.int64)
    spread: Array = (squares / number - (sums / number) ** 2) / _HALVES
    return spread


def is_even(raw: bytes, dtype: str) -> bool:
    """Whether codes are as evenly distributed as noise: by Pearson's χ², which trained weights never pass."""
    counts = np.bincount(np.frombuffer(raw, np.uint8), minlength=256).astype(np.float64)
    if dtype != "I8":
        table = counts.reshape(16, 16)
        counts = table.sum(axis=0) + table.sum(axis=1)
    expected, freedom = float(counts.mean()), counts.size - 1
    if expected < LEAST_EXPECTED:
        return False
    return bool(((counts - expected) ** 2).sum() / expected < freedom + 6 * (2 * freedom) ** 0.5)


#: The interquartile range of plausible numbers, in powers of two, and how far the largest may be above the median.
SANE, REACH = 4.0, 14.0
#: The fewest numbers by which plausibility can be judged.
FEWEST = 32


def repair(raw: bytes, dtype: str, start: int) -> str | None:
    """Describes what happened to part of a tensor: bytes swapped, or shifted, where the numbers then are plausible.

    Args:
        start: the number of the part's first byte in the tensor.
    """
    width = decoding.width(dtype)
    if dtype not in ("BF16", "F16", "F32", "F64"):
        return None
    data = np.frombuffer(raw, np.uint8)[-start % width :]
    data = data[: data.size // width * width]
    ways = {0: data, -1: data.reshape(-1, width)[:, ::-1].reshape(-1)}
    ways |= {shift: data[shift : shift - width] for shift in range(1, width)}
    spreads = {way: spread for way, bytes_ in ways.items() if (spread := _spread(bytes_, dtype)) is not None}
    best = min(spreads, key=lambda way: spreads[way], default=0)
    if not best:
        return None
    if best < 0:
        return "they are plausible with the bytes of each number swapped, as big-endian data would be"
    return f"they are plausible if shifted by {best} of a number's {width} bytes: bytes were lost or inserted"


def _spread(data: Array, dtype: str) -> float | None:
    """The interquartile range of the numbers; None if they are not plausible."""
    with np.errstate(all="ignore"):
        values = decoding.decoded(np.ascontiguousarray(data).tobytes(), dtype).astype(np.float64)
    size = np.abs(values[values != 0])
    if size.size < FEWEST or not np.isfinite(size).all():
        return None
    low, middle, high = np.percentile(np.log2(size), (25, 50, 75))
    is_sane = high - low < SANE and np.log2(size.max()) - middle < REACH
    return float(high - low) if is_sane else None
