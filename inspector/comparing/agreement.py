"""How the values of two tensors agree, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Literal, NamedTuple

Agreement = Literal["equal", "rounded", "different"]
#: From the best to the worst.
AGREEMENTS: tuple[Agreement, ...] = ("equal", "rounded", "different")


#: The most blocks, and share of blocks, in which other levels are a fault; more are another quantizer or original.
LOCAL, LOCAL_SHARE = 2, 0.005


class Sums(NamedTuple):
    """Additive measures of how two arrays of values agree."""

    elements: int = 0
    differing: int = 0  # elements that are not the same number
    beyond: int = 0  # elements that differ by more than a step of their dtypes
    max_abs: float = 0.0
    difference: float = 0.0  # Σ (a − b)², over elements finite in both
    a: float = 0.0  # Σ a²
    b: float = 0.0
    product: float = 0.0  # Σ a·b
    steps: float = 0.0  # Σ of squared steps
    nan_a: int = 0
    nan_b: int = 0
    strays: int = 0  # elements that are not at the level nearest to the original, where the format says which that is
    spoilt: int = 0  # blocks of 256 elements that have some

    def __add__(self, other: object) -> Sums:
        if not isinstance(other, Sums):
            return NotImplemented
        summed = Sums._make(one + two for one, two in zip(self, other, strict=True))
        return summed._replace(max_abs=max(self.max_abs, other.max_abs))

    @property
    def relative(self) -> float | None:
        """‖a − b‖ / ‖a‖; None if a is all zeros."""
        return sqrt(self.difference / self.a) if self.a else None

    @property
    def cosine(self) -> float | None:
        """The cosine of the angle between a and b; None if either is all zeros."""
        return self.product / sqrt(self.a * self.b) if self.a and self.b else None

    @property
    def faulty(self) -> bool:
        """Whether a few elements are at another level than the nearest, while all others are at theirs."""
        return 0 < self.spoilt <= max(LOCAL, self.elements // 256 * LOCAL_SHARE)

    @property
    def share(self) -> float:
        """The share of elements that are not the same number; 0 to 1."""
        return self.differing / self.elements if self.elements else 0.0


def added(sums: Iterable[Sums]) -> Sums:
    """The total of several."""
    total = Sums()
    for each in sums:
        total += each
    return total


class Data(NamedTuple):
    """How the values of a pair compare."""

    status: Agreement | None  # None if they cannot be compared, for the reason in `why`
    transform: str | None = None  # what turns one side into the other
    sums: Sums = Sums()
    why: str = ""


#: What one model is to another: by headers alone the first three, by values one of the others.
Kind = Literal[
    "same_structure", "other_structure", "part",
    "identical", "same_values", "rounded", "finetuned", "adapter_merged", "direction_removed", "merged", "pruned",
    "extended", "damaged", "unrelated",
]  # fmt: skip


class Relation(NamedTuple):
    """What b is to a."""

    kind: Kind
    sentence: str  # "b is a, fine-tuned in all 22 layers"; unescaped
    evidence: tuple[str, ...] = ()  # what the sentence rests on, a phrase each
    undecided: str = ""  # what would decide, if this is not certain
