"""Stored tensors that are not predicted: a cause claims them, or they stay unexplained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress, groupby, repeat
from operator import itemgetter, not_
from typing import NamedTuple

from inspector.architectures.naming import Named
from inspector.bridge import causes
from inspector.bridge.causes import Cause, Surplus
from inspector.bridge.identify import Stored
from inspector.bridge.ledger import Ledger
from inspector.bridge.words import short
from inspector.model import Prediction


class Claimed(NamedTuple):
    """Positions of surplus tensors."""

    by_cause: dict[str, list[int]]
    no_parameters: list[int]  # those among them that the model does not count
    unexplained: list[int]


def book(
    ledger: Ledger, stored: Stored, named: Named, surplus: Sequence[int], prediction: Prediction | None
) -> Claimed:
    """Book each tensor's bytes under the first cause that claims it."""
    claimed = Claimed(defaultdict(list), [], [])
    biases = _AddedBiases(stored)
    known: dict[tuple[int, int | None], tuple[Cause | None, str]] = {}
    for unit, pairs in groupby(zip(surplus, _units(named, surplus, prediction), strict=True), itemgetter(1)):
        members = [at for at, _ in pairs]
        if unit not in known:
            known[unit] = _cause_of(stored, named, members[0], prediction)
        cause, what = known[unit]
        if cause is None and stored.packing and prediction:
            is_added = [biases.has(stored.tensors[at].name) for at in members]
            added = [*compress(members, is_added)]
            members = [*compress(members, map(not_, is_added))]
            _take(claimed, ledger, stored, added, causes.BY_NAME["quantization_overhead"], "biases that packing added")
        if cause is None:
            claimed.unexplained.extend(members)
        else:
            _take(claimed, ledger, stored, members, cause, what)
    return claimed


def _take(claimed: Claimed, ledger: Ledger, stored: Stored, members: Sequence[int], cause: Cause, what: str) -> None:
    if not members:
        return
    claimed.by_cause[cause.name].extend(members)
    if not cause.parameters:
        claimed.no_parameters.extend(members)
    ledger.add(cause.name, sum(stored.tensors[at].nbytes for at in members), what, len(members))


def _units(named: Named, surplus: Sequence[int], prediction: Prediction | None) -> Iterator[tuple[int, int | None]]:
    """Each tensor's slot and layer: all tensors that share them have one cause."""
    slots = (id(named.slots[at]) for at in surplus)
    # Only with a prediction can a layer be surplus.
    layers = (named.key(at).layer for at in surplus) if prediction else repeat(None)
    return zip(slots, layers, strict=False)


def _cause_of(stored: Stored, named: Named, at: int, prediction: Prediction | None) -> tuple[Cause | None, str]:
    """The cause that claims a tensor and others like it, and its text."""
    tensor = stored.tensors[at]
    kind = stored.packing.kinds.get(tensor.name) if stored.packing else None
    surplus = Surplus(tensor, named.key(at), named.slots[at].group, prediction)
    cause = causes.cause_of(surplus)
    word = cause.word(tensor.name) if cause and cause.word else ""
    return cause, kind or word or short(tensor.name)


class _AddedBiases:
    """Biases of packed weights that the configuration does not have: AutoGPTQ wrote zeros for them."""

    def __init__(self, stored: Stored) -> None:
        self._weights = frozenset(stored.packing.names.values()) if stored.packing else frozenset()

    def has(self, name: str) -> bool:
        return name.endswith(".bias") and name.removesuffix("bias") + "weight" in self._weights
