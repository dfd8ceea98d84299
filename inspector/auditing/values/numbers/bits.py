"""Bits that do not vary, page by page, and codes as evenly distributed as noise.

Numbers with a stuck bit look plausible: a truncated mantissa, a sign that is always the same. They differ from rounded
numbers in that the rest of the tensor has the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.values.numbers.facts import Facts, Held, Run, merged
from inspector.formats.gguf.types import TYPES

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
    **dict.fromkeys(("I8", "U8", "I32", "U32"), Watch(1, 0xFF)),
    **dict.fromkeys((kind.name for kind in TYPES.values() if kind.block > 1), Watch(1, 0xFF)),
}


def look(found: Facts, raw: Array, dtype: str, offset: int) -> None:
    """Which bits are ever set and always set in a piece, and in which of its pages one of them does not vary."""
    watch = WATCHED.get(dtype)
    if watch is None or not raw.size:
        return
    skip = (
        -offset % CELL if offset % watch.width == 0 else 0
    )  # the pages of the file, provided that no number crosses their boundaries
    count = max(0, raw.size - skip) // CELL
    cells = raw[skip : skip + count * CELL].view("<u8").reshape(count, CELL // 8)
    rest = np.concatenate([raw[:skip], raw[skip:][count * CELL :]]).view(f"<u{watch.width}")
    ever, always = _folded(np.bitwise_or, cells, watch), _folded(np.bitwise_and, cells, watch)
    found.ever = int(np.bitwise_or.reduce(np.append(ever, rest)))
    found.always = int(np.bitwise_and.reduce(np.append(always, rest)))
    _hold(found, ever, always, watch, offset + skip)
    if dtype in ("I8", "I32", "U32"):
        _evenness(found, cells, dtype, offset + skip)


def _folded(way: np.ufunc, cells: Array, watch: Watch) -> Array:
    """The combined bits of all numbers in each cell."""
    words = way.reduce(cells, axis=1)
    folded: Array = way.reduce(words.view(f"<u{watch.width}").reshape(len(words), 8 // watch.width), axis=1)
    return folded


def _hold(found: Facts, ever: Array, always: Array, watch: Watch, offset: int) -> None:
    mask = ever.dtype.type(watch.mask)
    never, still = ~ever & mask, always & mask
    places = np.flatnonzero(((never | still) != 0) & (ever != always))  # except for cells of one number
    if places.size:
        a, b = never[places], still[places]
        ends = np.flatnonzero((np.diff(places) > 1) | (a[1:] != a[:-1]) | (b[1:] != b[:-1]))
        for first, last in zip([0, *(ends + 1).tolist()], [*ends.tolist(), len(places) - 1], strict=True):
            start, end = offset + int(places[first]) * CELL, offset + (int(places[last]) + 1) * CELL
            found.held.append(Held(start, end, int(a[first]), int(b[first])))


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
    if not len(cells):
        return
    sample = np.ascontiguousarray(cells[:, ::STEP])
    even = sample.view(np.int8).astype(np.float32).var(axis=1) / _BYTES if dtype == "I8" else _of_halves(sample)
    found.evenness, found.cells = float(even.sum()), len(cells)
    places = np.flatnonzero((even > LEAST_EVEN) & (even < MOST_EVEN)).tolist()
    found.even = merged(Run(offset + place * CELL, offset + (place + 1) * CELL) for place in places)


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
    octets = np.frombuffer(raw, np.uint8)
    counts = np.bincount(octets, minlength=256).astype(np.float64)
    if dtype != "I8":
        table = counts.reshape(16, 16)
        counts = table.sum(axis=0) + table.sum(axis=1)
    expected, freedom = float(counts.mean()), counts.size - 1
    if expected < LEAST_EXPECTED:
        return False
    return bool(((counts - expected) ** 2).sum() / expected < freedom + 6 * (2 * freedom) ** 0.5)
