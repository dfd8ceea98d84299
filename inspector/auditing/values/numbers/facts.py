"""The facts about a tensor, combined from its pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

#: The most runs of each kind that are kept per tensor: a pruned one has many.
MOST_RUNS = 256


class Run(NamedTuple):
    """A range of a file's bytes."""

    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class Held(NamedTuple):
    """A range of a file's bytes in whose numbers some bits do not vary."""

    start: int
    end: int
    never: int  # bits that are never set
    always: int  # and those that always are

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(slots=True)
class Facts:
    """A tensor's bytes and numbers. Of a quantized GGUF tensor the numbers are the scales of its blocks."""

    numbers: int = 0  # examined
    nan: int = 0
    inf: int = 0
    minus_inf: int = 0
    first_odd: int | None = None  # index of the first NaN or infinite number
    largest: float = 0.0  # magnitude of the finite numbers
    least_bits: int | None = None  # the least and the most of all numbers' bits, unsigned
    most_bits: int | None = None
    zeros: int = 0  # of the numbers in the sample
    sampled: int = 0  # finite numbers of the sample
    total: float = 0.0  # their sum
    squares: float = 0.0  # and that of their squares
    spread: float = 0.0  # the widest distance of a piece's quartiles of magnitude, in powers of two
    middle: float | None = None  # median of log2 of the magnitudes, of the piece with the most numbers
    middle_of: int = 0
    runs: list[Run] = field(default_factory=list)  # of eight bytes that repeat, zeros most of all; in order
    lost: int = 0  # blocks with numbers and no scale, and the first of them
    first_lost: int | None = None
    text: tuple[int, bytes] | None = None  # start of a text, and its first bytes
    ever: int = 0  # bits that are set in any number; of packed weights in any byte
    always: int = -1  # and those that are set in all
    held: list[Held] = field(default_factory=list)  # pages in which some of them do not vary; in order
    evenness: float = 0.0  # of packed codes: the sum over pages of their variance, as a share of that of noise
    cells: int = 0  # those pages
    even: list[Run] = field(default_factory=list)  # pages as uniform as noise; in order

    @property
    def constant(self) -> bool:
        """Whether all numbers have the same bits."""
        return self.least_bits is not None and self.least_bits == self.most_bits

    @property
    def all_zero(self) -> bool:
        return self.constant and self.least_bits == 0

    @property
    def mean(self) -> float:
        return self.total / self.sampled if self.sampled else 0.0

    @property
    def size(self) -> float:
        """Root mean square."""
        return (self.squares / self.sampled) ** 0.5 if self.sampled else 0.0

    @property
    def sparsity(self) -> float:
        """The share of zeros."""
        return self.zeros / (self.sampled or 1)

    def join(self, other: Facts) -> None:
        """Add the facts of another piece of the same tensor."""
        self.numbers += other.numbers
        self.nan += other.nan
        self.inf += other.inf
        self.minus_inf += other.minus_inf
        odd = [each for each in (self.first_odd, other.first_odd) if each is not None]
        self.first_odd = min(odd, default=None)
        self.largest = max(self.largest, other.largest)
        self.least_bits = _either(min, self.least_bits, other.least_bits)
        self.most_bits = _either(max, self.most_bits, other.most_bits)
        self.zeros += other.zeros
        self.sampled += other.sampled
        self.total += other.total
        self.squares += other.squares
        self.spread = max(self.spread, other.spread)
        if other.middle_of > self.middle_of:
            self.middle, self.middle_of = other.middle, other.middle_of
        self.runs = _joined(self.runs, other.runs)
        self.text = min((each for each in (self.text, other.text) if each), default=None)
        self.lost += other.lost
        self.first_lost = min((each for each in (self.first_lost, other.first_lost) if each is not None), default=None)
        self.ever |= other.ever
        self.always &= other.always
        self.held = _joined_held(self.held, other.held)
        self.evenness += other.evenness
        self.cells += other.cells
        self.even = _joined(self.even, other.even)


def _either(choose: object, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return choose(a, b)  # type: ignore[operator,no-any-return]


def merged(runs: Iterable[Run]) -> list[Run]:
    """Runs in order, adjacent ones merged."""
    found: list[Run] = []
    for each in sorted(runs):
        if found and each.start <= found[-1].end:
            found[-1] = Run(found[-1].start, max(found[-1].end, each.end))
        else:
            found.append(each)
    return found


def _joined(a: list[Run], b: list[Run]) -> list[Run]:
    """Runs in order; if there are many, only the longest."""
    found = merged((*a, *b)) if a and b else a or b
    if len(found) > 2 * MOST_RUNS:
        found = sorted(sorted(found, key=lambda run: -run.size)[:MOST_RUNS])
    return found


def _joined_held(a: list[Held], b: list[Held]) -> list[Held]:
    """The same for ranges with constant bits: adjacent ones are merged if their bits are the same."""
    if not a or not b:
        return a or b
    found: list[Held] = []
    for each in sorted((*a, *b)):
        last = found[-1] if found else None
        if last is not None and each.start <= last.end and each[2:] == last[2:]:
            found[-1] = last._replace(end=max(last.end, each.end))
        else:
            found.append(each)
    if len(found) > 2 * MOST_RUNS:
        found = sorted(sorted(found, key=lambda each: -each.size)[:MOST_RUNS])
    return found
