"""What the pass over a model's data finds: the facts about each tensor, combined from its pieces, and copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import add, and_, or_
from typing import Any, NamedTuple

from inspector.formats.ggml import TYPES

#: GGUF's types of blocks → bytes of a block.
BLOCKS: Mapping[str, int] = {kind.name: kind.nbytes for kind in TYPES.values() if kind.block > 1}
#: The most runs of each kind that are kept per tensor: a pruned one has many.
MOST_RUNS = 256


class Run(NamedTuple):
    """A range of a file's bytes, and the bits that do not vary in its numbers, if it is about them."""

    start: int
    end: int
    never: int = 0  # bits that are 0 in every number
    always: int = 0  # bits that are 1 in every number

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
    least_bits: int | None = None  # the lowest and the highest bit pattern, as unsigned integers
    most_bits: int | None = None
    zeros: int = 0  # of the numbers in the sample
    sampled: int = 0  # finite numbers of the sample
    total: float = 0.0  # their sum
    squares: float = 0.0  # the sum of their squares
    spread: float = 0.0  # the largest interquartile range of a piece's magnitudes, in powers of two
    middle: float | None = None  # median of log2 of the magnitudes, of the piece with the most numbers
    middle_of: int = 0
    runs: list[Run] = field(default_factory=list)  # where the same eight bytes repeat, mostly zeros; in order
    unscaled: int = 0  # blocks that have numbers but a scale of zero, and the first of them
    first_unscaled: int | None = None
    text: tuple[int, bytes] | None = None  # start of a text, and its first bytes
    ever: int = 0  # bits set in at least one number; for packed weights, in one byte
    always: int = -1  # bits set in every one
    constant_bits: list[Run] = field(default_factory=list)  # pages in which some bits do not vary; in order
    evenness: float = 0.0  # of packed codes: the sum over pages of their variance, as a share of that of noise
    cells: int = 0  # the number of these pages
    even: list[Run] = field(default_factory=list)  # pages as uniform as noise; in order

    @property
    def constant(self) -> bool:
        """Whether all numbers have the same bits."""
        return self.least_bits is not None and self.least_bits == self.most_bits

    @property
    def all_zero(self) -> bool:
        return self.constant and self.least_bits == 0

    @property
    def is_finite(self) -> bool:
        """Whether there is neither NaN nor infinity."""
        return not (self.nan or self.inf or self.minus_inf)

    @property
    def mean(self) -> float:
        return self.total / self.sampled if self.sampled else 0.0

    @property
    def size(self) -> float:
        """Root mean square."""
        return (self.squares / self.sampled) ** 0.5 if self.sampled else 0.0

    @property
    def alike_largest(self) -> float:
        """How many numbers of the largest magnitude would have this sum of squares: about 1 if one stands out."""
        return self.squares / self.largest**2 if self.largest else 0.0

    @property
    def sparsity(self) -> float:
        """The share of zeros."""
        return self.zeros / (self.sampled or 1)

    def join(self, other: Facts) -> None:
        """Add the facts of another piece of the same tensor."""
        if other.middle_of > self.middle_of:
            self.middle, self.middle_of = other.middle, other.middle_of
        for name, combine in _COMBINED.items():
            setattr(self, name, combine(getattr(self, name), getattr(other, name)))


def merged(runs: Iterable[Run]) -> list[Run]:
    """Runs in order, adjacent ones merged if the same bits do not vary in them."""
    found: list[Run] = []
    for each in sorted(runs):
        last = found[-1] if found else None
        if last is not None and each.start <= last.end and each[2:] == last[2:]:
            found[-1] = last._replace(end=max(last.end, each.end))
        else:
            found.append(each)
    return found


def _of_both(a: list[Run], b: list[Run]) -> list[Run]:
    """The runs of two pieces; if there are many, only the longest."""
    found = merged((*a, *b)) if a and b else a or b
    if len(found) > 2 * MOST_RUNS:
        found = sorted(sorted(found, key=lambda run: -run.size)[:MOST_RUNS])
    return found


def _if_known(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A choice between two facts, either of which may be unknown."""
    return lambda a, b: b if a is None else a if b is None else choose(a, b)


#: How the facts about two pieces become those about both.
_COMBINED: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("numbers", "nan", "inf", "minus_inf", "zeros", "sampled", "total", "squares"), add),
    **dict.fromkeys(("unscaled", "evenness", "cells"), add),
    **dict.fromkeys(("first_odd", "first_unscaled", "least_bits", "text"), _if_known(min)),
    **dict.fromkeys(("largest", "spread"), max),
    **dict.fromkeys(("runs", "constant_bits", "even"), _of_both),
    "most_bits": _if_known(max),
    "ever": or_,
    "always": and_,
}


class Copy(NamedTuple):
    """The same bytes in two places."""

    file: int
    start: int
    other_file: int
    other: int
    size: int


class Measured(NamedTuple):
    """The measured facts about a model's data."""

    facts: Mapping[tuple[str, str], Facts]  # (file, tensor)
    paths: tuple[str, ...]  # the files that `copies` numbers
    copies: tuple[Copy, ...]
    digests: Mapping[str, str]  # file → SHA-256 in hexadecimal, for the files to hash
    bytes_read: int
