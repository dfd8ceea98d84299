"""How the values of two tensors agree, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Literal, NamedTuple

Agreement = Literal["equal", "rounded", "different"]
#: From the best to the worst.
AGREEMENTS: tuple[Agreement, ...] = ("equal", "rounded", "different")


class Sums(NamedTuple):
    """What two arrays of values have in common; adds up."""

    elements: int = 0
    differing: int = 0  # elements that are not the same number
    beyond: int = 0  # elements that differ by more than a step of their dtypes
    max_abs: float = 0.0
    difference: float = 0.0  # Σ (a − b)², of what is finite in both
    a: float = 0.0  # Σ a²
    b: float = 0.0
    product: float = 0.0  # Σ a·b
    steps: float = 0.0  # Σ of squared steps
    nan_a: int = 0
    nan_b: int = 0

    def __add__(self, other: object) -> Sums:
        if not isinstance(other, Sums):
            return NotImplemented
        summed = Sums._make(one + two for one, two in zip(self, other, strict=True))
        return summed._replace(max_abs=max(self.max_abs, other.max_abs))

    @property
    def relative(self) -> float | None:
        """‖a − b‖ / ‖a‖; None where a is all zeros."""
        return sqrt(self.difference / self.a) if self.a else None

    @property
    def cosine(self) -> float | None:
        """Of the angle between a and b; None where one is all zeros."""
        return self.product / sqrt(self.a * self.b) if self.a and self.b else None

    @property
    def share(self) -> float:
        """Elements that are not the same number, of all; 0 to 1."""
        return self.differing / self.elements if self.elements else 0.0


def added(sums: Iterable[Sums]) -> Sums:
    """All of them together."""
    total = Sums()
    for each in sums:
        total += each
    return total


class Data(NamedTuple):
    """How the values of a pair compare."""

    status: Agreement | None  # None: they cannot be compared, and `why`
    transform: str | None = None  # what was done to one side to get the other
    sums: Sums = Sums()
    why: str = ""
