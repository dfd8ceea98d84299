"""Misplaced tensors: one stored twice, and two that were exchanged. Only with `--data`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.peers import Peers, TensorData, all_tensors, grouped, octaves
from inspector.units import escape

#: The smallest tensor, in bytes, that is not equal to another by chance; and the bytes compared at a time.
LEAST, STEP = 1024, 1 << 20
#: The fewest layers for one to stand out from; the largest share of a role's tensors that are copies by mistake.
LAYERS, MISTAKES = 3, 4
#: For exchanged tensors: the fewest layers, and the least quotient of their size ratio and its spread over the layers.
ORDERED_LAYERS, APART = 5, 3.0
#: Least difference, in powers of two, that is more than the sample's error.
DIFFERENT = 0.2
#: The most twins that are compared byte by byte.
MOST_COMPARED = 32


@rule("repeated-tensor", "data", "error")
@all_tensors
def repeated_tensor(found: Peers, subject: Subject) -> Iterator[Found | NotJudged]:
    """A tensor is byte for byte equal to one of another layer or role, although no others are equal.

    One tensor was written twice, the second time in place of another. Layers repeated as a whole, roles shared by all
    layers, and experts initialized as copies are not reported. Download the file again, or convert it again.
    """
    twins = _Twins(found)
    suspects = (pair for pair in twins.pairs if twins.are_odd(*pair))
    for number, (one, other) in enumerate(suspects):
        if number == MOST_COMPARED:
            yield NotJudged(f"more than {MOST_COMPARED} pairs of tensors with equal statistics", other.path, "info")
            break
        if _are_equal(one, other, subject):
            what = f"byte for byte equal to {escape(one.name, 120)}: one of the two is lost"
            yield Found(what, other.path, other.name)


class _Place(NamedTuple):
    """The properties that tensors of one kind share, in any layer."""

    tower: str
    branch: str
    role: str
    part: str


def _place(seen: TensorData) -> _Place:
    return _Place(seen.key.tower, seen.key.branch, seen.key.role, seen.key.part)


class _Twins:
    """Weights with identical statistics."""

    def __init__(self, found: Peers) -> None:
        weights = [each for each in found.all if each.is_learnt and each.key.layer is not None and each.nbytes >= LEAST]
        varied = [each for each in weights if not each.facts.constant and each.facts.numbers]
        self._layers = grouped(weights, lambda each: (each.key.tower, each.key.layer))
        self._kinds = grouped(weights, _place)
        self._groups = [group for group in grouped(varied, _statistics).values() if len(group) > 1]
        self._alike = Counter(frozenset(map(_place, group)) for group in self._groups)
        self._twin = {id(each): group for group in self._groups for each in group}

    @property
    def pairs(self) -> Iterator[tuple[TensorData, TensorData]]:
        """Pairs of equal weights; more equal ones would be intended."""
        return ((group[0], group[1]) for group in self._groups if len(group) == 2)

    def are_odd(self, one: TensorData, other: TensorData) -> bool:
        """Whether no other tensors are equal in the same way."""
        here, there = _place(one), _place(other)
        if here.tower != there.tower or (here == there and one.key[:3] == other.key[:3]):  # tower, layer, expert
            return False  # another copy of the model, such as an average or a teacher
        if len(self._kinds[here]) < LAYERS or self._share_of_layer(one, other) * 2 >= 1:
            return False
        alike = self._alike[frozenset({here, there})]
        return alike == 1 or alike * MISTAKES * 2 <= len(self._kinds[here])

    def _share_of_layer(self, one: TensorData, other: TensorData) -> float:
        """The share of a layer's other weights that equal those of the other layer."""
        if one.key.layer == other.key.layer:
            return 0.0
        rest = [each for each in self._layers[one.key.tower, one.key.layer] if each is not one]
        twinned = sum(
            any(twin.key.layer == other.key.layer for twin in self._twin.get(id(each), ()) if twin is not each)
            for each in rest
        )
        return twinned / len(rest) if rest else 1.0


def _statistics(seen: TensorData) -> object:
    """All statistics of a tensor; sums only as far as they do not depend on the order of summation."""
    facts, tensor = seen.facts, seen.labelled.tensor
    bits = (facts.least_bits, facts.most_bits, facts.ever, facts.always)
    sums = (f"{facts.total:.6g}", f"{facts.squares:.6g}", f"{facts.evenness:.6g}")
    return (tensor.dtype, tensor.shape, facts.largest, facts.middle, *bits, *sums)


def _are_equal(one: TensorData, other: TensorData, subject: Subject) -> bool:
    with subject.reading(one.path) as first, subject.reading(other.path) as second:
        for at in range(0, one.nbytes, STEP):
            length = min(STEP, one.nbytes - at)
            if first(one.extent.start + at, length) != second(other.extent.start + at, length):
                return False
    return True


@rule("exchanged-tensors", "data", "error")
@all_tensors
def exchanged_tensors(found: Peers, subject: Subject) -> Iterator[Found]:
    """Two tensors of a layer were exchanged, as their magnitudes show.

    In all other layers the numbers of one role are larger than those of the other by nearly the same factor, and in
    this layer smaller by that factor: keys in place of values, a gate in place of its projection. The writer of the
    file gave two tensors each other's names: convert the model again.
    """
    reported: set[str] = set()
    for one, other, factor in sorted(_exchanged(found), key=lambda each: -each[2]):
        if reported.isdisjoint((one.name, other.name)):
            reported |= {one.name, other.name}
            what = f"numbers {2**factor:.3g} times those of {escape(other.name, 120)}; in all other layers it is the"
            yield Found(f"{what} other way round: the two were exchanged", one.path, one.name)


def _exchanged(found: Peers) -> Iterator[tuple[TensorData, TensorData, float]]:
    """Pairs that differ the other way round than in all other layers, and by how much, in powers of two."""
    kinds: defaultdict[tuple[object, ...], dict[int, TensorData]] = defaultdict(dict)
    for each in found.all:
        group, layer = each.labelled.group, each.key.layer
        if not (each.is_norm or each.is_learnt) or layer is None or each.key.expert is not None:
            continue
        if each.is_float and each.facts.size and not each.is_scrambled:
            kind = (group, each.dtype, each.labelled.tensor.shape, *_place(each))
            kinds[kind][layer] = each
    for (one_kind, ones), (other_kind, others) in combinations(kinds.items(), 2):
        layers = sorted(ones.keys() & others.keys())
        if one_kind[:4] == other_kind[:4] and len(layers) >= ORDERED_LAYERS:
            factors = {layer: _factor(ones[layer], others[layer]) for layer in layers}
            for layer in layers:
                if _is_other_way(factors[layer], [factors[each] for each in layers if each != layer]):
                    yield _larger_first(ones[layer], others[layer], factors[layer])


def _factor(one: TensorData, other: TensorData) -> float:
    return (octaves(one.facts.size) or 0.0) - (octaves(other.facts.size) or 0.0)


def _is_other_way(factor: float, others: Sequence[float]) -> bool:
    low, high = min(others), max(others)
    if low * high <= 0:
        return False
    width, least = high - low, min(abs(low), abs(high))
    near = width / 2 + DIFFERENT / 4
    return least >= max(DIFFERENT, APART * width) and low - near <= -factor <= high + near


def _larger_first(one: TensorData, other: TensorData, factor: float) -> tuple[TensorData, TensorData, float]:
    return (one, other, factor) if factor > 0 else (other, one, -factor)
