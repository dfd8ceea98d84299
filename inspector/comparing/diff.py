"""Two checkpoints side by side, from their headers and configurations alone.

diff(a, b).differs → whether anything except names and order differs
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from inspector.comparing.agreement import AGREEMENTS, Data
from inspector.comparing.beside import Beside, beside
from inspector.comparing.pairing import Pair, Status, pairs
from inspector.model import Config, Reconciliation
from inspector.tabular import Tabular

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
    beside: tuple[Beside, ...] = ()  # vocabulary, chat template, settings, metadata
    data: tuple[Data | None, ...] | None = None  # the comparison of each pair's values; None if none were read

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
    fields = tuple(_fields(a.checkpoint.config, b.checkpoint.config))
    return Diff(a, b, fields, pairs(a, b), beside(a.checkpoint, b.checkpoint))


def _fields(a: Config | None, b: Config | None) -> Iterator[FieldDifference]:
    """Fields that differ; between configurations of different kinds, only those that both have.

    A GGUF's key-values say less than a config.json, and an inferred configuration adds nothing.
    """
    if a is None or b is None or "inferred" in (a.kind, b.kind):
        return
    own, other = dict(_flat(a.values)), dict(_flat(b.values))
    names = own | other if a.kind == b.kind else {name: 0 for name in own if name in other}
    for name in names:
        if name not in PROVENANCE and own.get(name) != other.get(name):
            yield FieldDifference(name, own.get(name), other.get(name))


def _flat(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value and depth < 8:
            yield from _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value
