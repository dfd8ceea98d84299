"""Statistics of a tensor's numbers, in one pass and bounded memory.

    tally = Tally()
    for chunk in …: tally.add(values)         # or tally.count(patterns, table) for numbers of at most 16 bits
    tally.summary()                           # → Summary

Everything is exact except percentiles of tensors with more than `KEPT` wider numbers, and of several tensors together:
those use the upper half of a number as float32, accurate to 1 part in 128. Moments cover the finite numbers, in double
precision; percentiles are interpolated as `numpy.percentile` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from inspector.formats.decoding import Array

#: Numbers that are kept for exact percentiles: 32 MB as float32.
KEPT = 1 << 23
PERCENTILES = (0.1, 1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0, 99.9)
BINS = 24
#: The key of zero, in the middle of the keys (see `keys`).
_ZERO = 1 << 15


class Histogram(NamedTuple):
    """How many finite numbers are between two edges; the upper edge belongs to the next bin, except for the last."""

    edges: tuple[float, ...]  # one more than the number of bins
    counts: tuple[int, ...]
    below: int = 0  # numbers under the first edge
    above: int = 0  # numbers over the last


class Summary(NamedTuple):
    """The numbers of a tensor, or of several."""

    total: int  # numbers counted: elements, two for each complex one
    nan: int
    inf: int  # infinite numbers of either sign
    zeros: int
    min: float | None  # of the finite numbers, like all below; None if there are none; int for 64-bit integers
    max: float | None
    mean: float | None
    std: float | None  # of the population: divided by the count
    percentiles: Mapping[float, float]
    histogram: Histogram | None

    @property
    def largest(self) -> float | None:
        """The largest magnitude of the finite numbers."""
        return None if self.min is None or self.max is None else max(abs(self.min), abs(self.max))


def pooled(summaries: Iterable[Summary]) -> Summary:
    """Several summaries merged, as if their numbers had been counted together; without percentiles and histograms."""
    found = list(summaries)
    finite = [(each.total - each.nan - each.inf, each) for each in found if each.mean is not None]
    number = sum(n for n, _ in finite)
    mean = sum(n * (each.mean or 0.0) for n, each in finite) / number if number else None
    apart = ((n, each.std or 0.0, (each.mean or 0.0) - (mean or 0.0)) for n, each in finite)
    squares = sum(n * (std * std + off * off) for n, std, off in apart)
    return Summary(
        sum(each.total for each in found),
        sum(each.nan for each in found),
        sum(each.inf for each in found),
        sum(each.zeros for each in found),
        min((each.min for each in found if each.min is not None), default=None),
        max((each.max for each in found if each.max is not None), default=None),
        mean,
        (squares / number) ** 0.5 if number else None,
        {},
        None,
    )


class Tally:
    """Counts numbers as they arrive."""

    def __init__(self) -> None:
        self._number = self._nan = self._inf = self._zeros = 0
        self._least, self._most = np.inf, -np.inf
        self._mean = self._squares = 0.0  # of the finite numbers; squares of the differences from their mean
        self._finite = 0
        self._keys = np.zeros(1 << 16, np.int64)  # counts of numbers by the upper half of their float32 bits
        self._kept: list[Array] | None = []
        self._counted: dict[str, tuple[Array, Array]] = {}  # kind → (the value of each pattern, its count)

    @np.errstate(all="ignore")  # NaNs are counted, not warned about
    def add(self, values: Array) -> None:
        """Add numbers as float32 or float64, or 64-bit integers, whose extremes are kept exactly."""
        whole = values.dtype.kind in "iu"
        wide = values.astype(np.float64) if whole else values
        usual = np.isfinite(wide)
        finite = wide if usual.all() else wide[usual]
        nan = int(np.isnan(wide).sum()) if finite.size < wide.size else 0
        self._number += wide.size
        self._nan += nan
        self._inf += wide.size - finite.size - nan
        if not finite.size:
            return
        self._zeros += finite.size - int(np.count_nonzero(finite))
        extremes, number = (values, int) if whole else (finite, float)
        self._extend(number(extremes.min()), number(extremes.max()))
        mean = float(finite.mean(dtype=np.float64))
        apart = np.subtract(finite, mean, dtype=np.float64)
        self._join(finite.size, mean, float(np.dot(apart, apart)))
        self._keys += np.bincount(keys(finite), minlength=1 << 16)
        self._keep(finite)

    def count(self, patterns: Array, table: Array, what: str = "") -> None:
        """Count numbers of at most 16 bits by their bit patterns.

        Args:
            patterns: unsigned integers.
            table: the value of each pattern.
            what: a name for this table, the same for all its patterns.
        """
        counts = np.bincount(patterns, minlength=len(table))
        known = self._counted.get(what)
        self._counted[what] = (table, counts if known is None else known[1] + counts)

    @np.errstate(all="ignore")
    def merge(self, other: Tally) -> None:
        """Add everything that another tally has counted."""
        other._settle()
        self._settle()
        self._number += other._number
        self._nan += other._nan
        self._inf += other._inf
        self._zeros += other._zeros
        if other._finite:
            self._extend(other._least, other._most)
            self._join(other._finite, other._mean, other._squares)
        self._keys += other._keys
        self._kept = None

    @np.errstate(all="ignore")
    def summary(self) -> Summary:
        """Summarise all the numbers."""
        whole = len(self._counted) == 1 and not self._number
        patterns = next(iter(self._counted.values())) if whole else None
        self._settle()
        if not self._finite:
            return Summary(self._number, self._nan, self._inf, self._zeros, None, None, None, None, {}, None)
        std = float(np.sqrt(self._squares / self._finite))
        values, counts = self._distribution(patterns)
        return Summary(
            self._number,
            self._nan,
            self._inf,
            self._zeros,
            self._least,
            self._most,
            self._mean,
            std,
            self._percentiles(values, counts),
            self._histogram(values, counts, std),
        )

    # --- counting -------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def _settle(self) -> None:
        """Merge what was counted by patterns into the rest."""
        for table, counts in self._counted.values():
            wide = table.astype(np.float64)
            finite = np.isfinite(wide) & (counts > 0)
            self._number += int(counts.sum())
            self._nan += int(counts[np.isnan(wide)].sum())
            self._inf += int(counts[np.isinf(wide)].sum())
            self._zeros += int(counts[wide == 0].sum())
            wide, counts = wide[finite], counts[finite]
            if wide.size:
                self._extend(float(wide.min()), float(wide.max()))
                mean = float((wide * counts).sum() / counts.sum())
                self._join(int(counts.sum()), mean, float((np.square(wide - mean) * counts).sum()))
                np.add.at(self._keys, keys(wide), counts)
            self._kept = None
        self._counted.clear()

    def _extend(self, least: float, most: float) -> None:
        self._least, self._most = min(self._least, least), max(self._most, most)

    def _join(self, count: int, mean: float, squares: float) -> None:
        """Chan's formula for the moments of two sets together."""
        total, apart = self._finite + count, mean - self._mean
        self._squares += squares + apart * apart * self._finite / total * count
        self._mean += apart * count / total
        self._finite = total

    def _keep(self, values: Array) -> None:
        if self._kept is not None:
            self._kept.append(values.copy())
            if self._finite > KEPT:
                self._kept = None

    # --- summarising ----------------------------------------------------------------------------

    def _distribution(self, patterns: tuple[Array, Array] | None) -> tuple[Array, Array | None]:
        """Finite numbers in order, and the count of each; None for the counts if each occurs once."""
        if patterns is not None:
            table, counts = patterns
            present = np.flatnonzero((counts > 0) & np.isfinite(table))
            order = present[np.argsort(table[present], kind="stable")]
            return table[order].astype(np.float64), counts[order]
        if self._kept is not None:
            return np.sort(np.concatenate(self._kept)), None
        present = np.flatnonzero(self._keys)
        middles = (numbers(present) + numbers(present + 1)) / 2
        middles[present == _ZERO] = 0
        return np.clip(middles, self._least, self._most), self._keys[present]

    def _percentiles(self, values: Array, counts: Array | None) -> dict[float, float]:
        ends = None if counts is None else np.cumsum(counts)
        found = {}
        for percent in PERCENTILES:
            place = percent / 100 * (self._finite - 1)
            ranks = np.array([int(place), min(int(place) + 1, self._finite - 1)])
            at = ranks if ends is None else np.searchsorted(ends, ranks, side="right")
            lower, upper = map(float, values[at])
            found[percent] = lower + (upper - lower) * (place - int(place))
        return found

    def _histogram(self, values: Array, counts: Array | None, std: float) -> Histogram:
        """Equal bins over the range, or over four standard deviations around the mean if some are farther out."""
        low, high = max(self._least, self._mean - 4 * std), min(self._most, self._mean + 4 * std)
        if not low < high:
            return Histogram((self._least, self._most), (self._finite,))
        edges = np.linspace(low, high, BINS + 1)
        found, _ = np.histogram(values, edges, weights=counts)
        outside = [values < edges[0], values > edges[-1]]
        below, above = (int(np.count_nonzero(each) if counts is None else counts[each].sum()) for each in outside)
        return Histogram(tuple(map(float, edges)), tuple(map(int, found)), below, above)


def keys(values: Array) -> Array:
    """The upper half of each number's bits as float32, in the numbers' order: finite numbers → 128 to 65,408."""
    with np.errstate(over="ignore"):
        bits = values.astype(np.float32, copy=False).view(np.int32)
    ordered = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
    ordered >>= 16
    ordered += _ZERO
    return ordered


def numbers(places: Array | Sequence[int]) -> Array:
    """The least number of each key, as float64."""
    signed = np.asarray(places, np.int64) - _ZERO
    bits = (np.abs(signed) << 16).astype(np.uint32).view(np.float32).astype(np.float64)
    return np.where(signed < 0, -bits, bits)
