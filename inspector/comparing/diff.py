"""Two checkpoints side by side, from their headers and configurations alone; and what two changed in a common base.

diff(a, b).differs              whether anything except names and order differs
three(base_a, base_b, a_b)      each tensor of the base: changed by neither, by one, by both alike or differently
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from inspector.comparing.agreement import AGREEMENTS, Data, Relation
from inspector.comparing.companions import Companion, companions
from inspector.comparing.pairing import Pair, Status, pairs
from inspector.model import Config, Key, Reconciliation
from inspector.tabular import Tabular
from inspector.units import escape, plural

#: Fields about who wrote a configuration, not about the model.
PROVENANCE = frozenset({"_name_or_path", "transformers_version", "name_or_path", "_commit_hash"})
STATUSES: tuple[Status, ...] = ("same", "dtype", "shape", "only_a", "only_b")


class FieldDifference(NamedTuple):
    """A configuration field with different values."""

    field: str  # dotted within nested configurations: "text_config.rope_theta"
    a: Any  # None if that side does not have it
    b: Any


@dataclass(frozen=True, slots=True)
class Diff(Tabular):
    """What two checkpoints have in common, and where they differ."""

    a: Reconciliation
    b: Reconciliation
    config: tuple[FieldDifference, ...]
    pairs: tuple[Pair, ...]
    beside: tuple[Companion, ...] = ()  # vocabulary, chat template, settings, metadata
    data: tuple[Data | None, ...] | None = None  # the comparison of each pair's values; None if none were read
    relation: Relation | None = None  # what b is to a

    def __repr__(self) -> str:
        a, b = (escape(side.checkpoint.title, 60) for side in (self.a, self.b))
        differing = sum(pair.status != "same" for pair in self.pairs)
        return f"<Diff {a} → {b}: {differing:,} of {plural(len(self.pairs), 'tensor')} differ>"

    @property
    def agreements(self) -> Mapping[str, int] | None:
        """Pairs whose values are equal, rounded, different, or cannot be compared; None if none were read."""
        if self.data is None:
            return None
        counted = Counter(each.status for each in self.data if each)
        return {**{status: counted[status] for status in AGREEMENTS}, "incomparable": counted[None]}

    @property
    def counts(self) -> Mapping[Status, int]:
        """Pairs of each status; a fused or stacked tensor forms one pair with all its counterparts."""
        counted = Counter(pair.status for pair in self.pairs)
        return {status: counted[status] for status in STATUSES}

    @property
    def differs(self) -> bool:
        """Whether any tensor, field, template or the like differs, or any value, if these were read."""
        values = any(each and each.status == "different" for each in self.data or ())
        others = any(each.status != "same" for each in self.beside)
        return bool(self.config) or values or others or any(pair.status != "same" for pair in self.pairs)

    @property
    def shared(self) -> float:
        """The share of the parameters of the smaller model that the other has in the same shapes; 0 to 1."""
        common = sum(pair.a.elements for pair in self.pairs if pair.a and pair.status in ("same", "dtype"))
        whole = min(
            sum(side.elements for pair in self.pairs if (side := pair.a)),
            sum(side.elements for pair in self.pairs if (side := pair.b)),
        )
        return common / whole if whole else 0.0


def diff(a: Reconciliation, b: Reconciliation) -> Diff:
    """Compare two opened and reconciled checkpoints.

    >>> import inspector
    >>> base, tuned = (inspector.reconcile(inspector.open(path)) for path in ("base", "tuned"))  # doctest: +SKIP
    >>> diff(base, tuned).counts  # doctest: +SKIP
    {'same': 291, 'dtype': 0, 'shape': 0, 'only_a': 0, 'only_b': 0}
    """
    fields = tuple(_differing_fields(a.checkpoint.config, b.checkpoint.config))
    return Diff(a, b, fields, pairs(a, b), companions(a.checkpoint, b.checkpoint))


def _differing_fields(a: Config | None, b: Config | None) -> Iterator[FieldDifference]:
    """Fields that differ; between configurations of different kinds, only those that both have.

    A GGUF's key-values have fewer fields than a config.json, and an inferred configuration adds none.
    """
    if a is None or b is None or "inferred" in (a.kind, b.kind):
        return
    own, other = dict(_dotted_fields(a.values)), dict(_dotted_fields(b.values))
    names = own | other if a.kind == b.kind else {name: 0 for name in own if name in other}
    for name in names:
        if name not in PROVENANCE and own.get(name) != other.get(name):
            yield FieldDifference(name, own.get(name), other.get(name))


def _dotted_fields(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value and depth < 8:
            yield from _dotted_fields(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value


# --- three checkpoints ---------------------------------------------------------------------------

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

    def __repr__(self) -> str:
        base, a, b = (escape(each.checkpoint.title, 60) for each in (self.a.a, self.a.b, self.b.b))
        return f"<Three {base} → {a} and {b}: {plural(len(self.tensors), 'tensor')}>"

    @property
    def counts(self) -> Mapping[Change, int]:
        counted = Counter(each.change for each in self.tensors)
        return {change: counted[change] for change in CHANGES}

    @property
    def differs(self) -> bool:
        return self.a.differs or self.b.differs


#: A pair, and how its values compare if they were read.
_Compared = tuple[Pair, Data | None]


def three(a: Diff, b: Diff, between: Diff) -> Three:
    """What changed where.

    Args:
        a, b: the base compared with each.
        between: these two compared with each other, with values if the others have them.
    """
    left, right, both = _by_key(a), _by_key(b), _by_key(between)
    keys = dict.fromkeys((*left, *right))
    return Three(a, b, tuple(_change_of(key, left.get(key), right.get(key), both.get(key)) for key in keys))


def _by_key(result: Diff) -> dict[Key, _Compared]:
    data = result.data or (None,) * len(result.pairs)
    return {pair.key: (pair, each) for pair, each in zip(result.pairs, data, strict=True)}


def _change_of(key: Key, a: _Compared | None, b: _Compared | None, both: _Compared | None) -> Third:
    changed = _is_changed(a), _is_changed(b)
    change: Change = "a" if changed[0] else "b" if changed[1] else "same"
    if all(changed):
        gone = a is not None and b is not None and (a[0].b, b[0].b) == (None, None)
        change = "alike" if gone or (both is not None and not _is_changed(both)) else "apart"
    pair_a, data_a = a or (None, None)
    pair_b, data_b = b or (None, None)
    return Third(key, change, pair_a, pair_b, data_a, data_b)


def _is_changed(found: _Compared | None) -> bool:
    """Whether a pair differs; False if neither side has a tensor."""
    if found is None:
        return False
    pair, data = found
    return pair.status != "same" or (data is not None and data.status != "equal")
