"""What bits show: some that do not vary in a page, codes as evenly distributed as noise, bytes in the wrong places.

Numbers with a stuck bit look plausible: a truncated mantissa, a sign that is always the same. They differ from rounded
numbers in that the rest of the tensor has the bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.values.numbers.facts import BLOCKS, Facts, Run
from inspector.formats import decoding

Array = NDArray[Any]
#: Bytes that are examined together.
CELL = 4096


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
    skip = -offset % CELL if offset % watch.width == 0 else 0
    count = max(0, raw.size - skip) // CELL
    cells = raw[skip : skip + count * CELL].view("<u8").reshape(count, CELL // 8)
    rest = np.concatenate([raw[:skip], raw[skip:][count * CELL :]]).view(f"<u{watch.width}")
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
    return Run(offset + int(places[first]) * CELL, offset + (int(places[last]) + 1) * CELL)


# --- noise ----------------------------------------------------------------------------------------

#: Only one word in this many is examined.
STEP = 64
#: Variance of uniformly distributed half bytes, and of signed bytes.
_HALVES, _BYTES = 21.25, 5461.25
#: The range of a cell's variance, relative to a uniform distribution's, that counts as even.
LEAST_EVEN, MOST_EVEN = 0.7, 1.3
#: The least expected number of codes per value for a meaningful χ².
LEAST_EXPECTED = 5


def _evenness(found: Facts, cells: Array, dtype: str, offset: int) -> None:
    """How widely packed codes are distributed: those of trained weights concentrate in the middle."""
    sample = np.ascontiguousarray(cells[:, ::STEP])
    even = sample.view(np.int8).astype(np.float32).var(axis=1) / _BYTES if dtype == "I8" else _of_halves(sample)
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


# --- bytes in the wrong places --------------------------------------------------------------------

#: The interquartile range of plausible numbers, in powers of two, and how far the largest may be above the median.
SANE, REACH = 4.0, 14.0
#: The fewest numbers by which plausibility can be judged.
LEAST = 32


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
    if size.size < LEAST or not np.isfinite(size).all():
        return None
    low, middle, high = np.percentile(np.log2(size), (25, 50, 75))
    is_sane = high - low < SANE and np.log2(size.max()) - middle < REACH
    return float(high - low) if is_sane else None
