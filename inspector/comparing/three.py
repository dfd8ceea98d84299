"""Three checkpoints: what two changed in their common base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from inspector.comparing.agreement import Data
from inspector.comparing.diff import Diff
from inspector.comparing.pairing import Pair
from inspector.model import Key
from inspector.tabular import Tabular

#: Changed by neither, by one, by both identically, or by both differently.
Change = Literal["same", "a", "b", "alike", "apart"]
CHANGES: tuple[Change, ...] = ("same", "a", "b", "alike", "apart")


class Third(NamedTuple):
    """One key of the base."""

    key: Key
    change: Change
    a: Pair | None  # the base's tensor with a's; None if the base has none
    b: Pair | None
    data_a: Data | None
    data_b: Data | None


@dataclass(frozen=True, slots=True)
class Three(Tabular):
    """A base and two models derived from it."""

    a: Diff  # the base with a
    b: Diff  # the base with b
    tensors: tuple[Third, ...]

    @property
    def counts(self) -> Mapping[Change, int]:
        counted = Counter(each.change for each in self.tensors)
        return {change: counted[change] for change in CHANGES}

    @property
    def differs(self) -> bool:
        return self.a.differs or self.b.differs


_Found = dict[Key, tuple[Pair, Data | None]]


def three(a: Diff, b: Diff, between: Diff) -> Three:
    """What changed where.

    Args:
        a, b: the base compared with each.
        between: these two compared with each other, with values if the others have them.
    """
    left, right, both = _by_key(a), _by_key(b), _by_key(between)
    keys = dict.fromkeys((*left, *right))
    return Three(a, b, tuple(_third(key, left.get(key), right.get(key), both.get(key)) for key in keys))


def _by_key(result: Diff) -> _Found:
    data = result.data or (None,) * len(result.pairs)
    return {pair.key: (pair, each) for pair, each in zip(result.pairs, data, strict=True)}


def _third(
    key: Key,
    a: tuple[Pair, Data | None] | None,
    b: tuple[Pair, Data | None] | None,
    both: tuple[Pair, Data | None] | None,
) -> Third:
    changed_a, changed_b = _is_changed(a), _is_changed(b)
    change: Change = "same"
    if changed_a and changed_b:
        gone = a is not None and b is not None and (a[0].b, b[0].b) == (None, None)
        change = "alike" if gone or (both is not None and not _is_changed(both)) else "apart"
    elif changed_a or changed_b:
        change = "a" if changed_a else "b"
    pair_a, data_a = a or (None, None)
    pair_b, data_b = b or (None, None)
    return Third(key, change, pair_a, pair_b, data_a, data_b)


def _is_changed(found: tuple[Pair, Data | None] | None) -> bool:
    """Whether a pair differs; None if neither side has a tensor."""
    if found is None:
        return False
    pair, data = found
    return pair.status != "same" or (data is not None and data.status != "equal")
