"""Kinds of tensors: tens of thousands with a few dozen sizes are counted once, and summed from the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from operator import itemgetter
from typing import NamedTuple

from inspector.model import Tensor


class Kind(NamedTuple):
    """Properties that most tensors of one pattern share."""

    dtype: str
    shape: tuple[int, ...]  # as stored
    nbytes: int

    @property
    def elements(self) -> int:
        return prod(self.shape)


_KIND_OF = itemgetter(*(Tensor._fields.index(name) for name in Kind._fields))


def kinds_of(tensors: Sequence[Tensor], groups: Iterable[tuple[object, Sequence[int]]]) -> list[Counter[Kind]]:
    """For each group of positions, the number of tensors of each kind."""
    counts: list[Counter[Kind]] = []
    for _, members in groups:
        found = Counter(map(_KIND_OF, map(tensors.__getitem__, members)))
        counts.append(Counter({Kind(*kind): number for kind, number in found.items()}))
    return counts
