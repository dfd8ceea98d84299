"""Misplaced tensors: one stored twice, copies that differ, and two that were exchanged. Only with `--data`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.peers import TABLES, Peers, TensorData, all_tensors, grouped, octaves
from inspector.bridge.ledger import Surplus, is_tied
from inspector.model import Labelled, Reconciliation
from inspector.units import escape, integer, plural

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


@rule("copies-differ", "data", "warning")
def copies_differ(subject: Subject) -> Iterator[Found | NotJudged]:
    """A stored copy of the embedding, which the configuration ties to it, has other values.

    Transformers 5.24 then does not tie them and computes with both (`PreTrainedModel.tie_weights`); a loader that ties
    whatever the values are ignores the copy. Set `tie_word_embeddings` to false if the copy is meant, or leave it out.
    """
    pairs = [pair for result in subject.results for pair in _copies(result)] if subject.measured else []
    for one, other in pairs[:MOST_COMPARED]:
        rows = other.tensor.shape[0]
        if differing := _differing_rows(one, other, rows, subject):
            what = f"differs from {escape(one.tensor.name, 120)}, to which the configuration ties it"
            yield Found(f"{what}, in {integer(differing)} of {plural(rows, 'row')}", other.file, other.tensor.name)
    if len(pairs) > MOST_COMPARED:
        yield NotJudged(f"more than {MOST_COMPARED} copies of the embedding", pairs[MOST_COMPARED][1].file)


def _copies(result: Reconciliation) -> Iterator[tuple[Labelled, Labelled]]:
    """The embedding, and each stored copy of it with the same shape and type."""
    tables = [each for each in result.tensors if each.key.role in TABLES and each.key.layer is None]
    own = [each for each in tables if each.parameters and each.key.role == "embed_tokens"]
    for each in tables:
        tensor, key = each.tensor, each.key
        if each.parameters or len(tensor.shape) < 2 or not tensor.nbytes:
            continue
        alike = [one for one in own if one.tensor[1:3] == tensor[1:3] and one.key.part == key.part]
        if alike and is_tied(Surplus(tensor, key, each.group, result.prediction)):
            yield max(alike, key=lambda one: one.key.tower == key.tower), each


def _differing_rows(one: Labelled, other: Labelled, rows: int, subject: Subject) -> int:
    import numpy as np

    width = other.tensor.nbytes // rows
    step = max(1, STEP // width)
    found = 0
    with subject.reading(one.file) as first, subject.reading(other.file) as second:
        for at in range(0, rows, step):
            length = min(step, rows - at) * width
            parts = first(one.tensor.offset + at * width, length), second(other.tensor.offset + at * width, length)
            if parts[0] != parts[1]:
                left, right = (np.frombuffer(part, np.uint8).reshape(-1, width) for part in parts)
                found += int((left != right).any(axis=1).sum())
    return found


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
