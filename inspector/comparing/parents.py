"""Which of some candidates a model was made from: ranked by samples of values, and the best one compared whole.

    parents(target, candidates) → each with its relation and its score, the best first; two at once if it is a merge

Headers come first: what has no weight in the target's shapes is read no further. Of the others the same few thousand
elements of some matrices are compared; memory holds the samples of those that are related, not the models.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import chain, combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from inspector.comparing.agreement import Relation
from inspector.comparing.data import Comparison
from inspector.comparing.diff import diff
from inspector.comparing.probing import SAMPLE, aligned, samples
from inspector.comparing.relation import FOREIGN, STRANGE, of_headers, of_values
from inspector.errors import InspectorError
from inspector.formats.decoding import Array
from inspector.measuring.weights import Weights
from inspector.model import Reconciliation
from inspector.quantization.precision import spacing
from inspector.tabular import Tabular

#: Matrices of the target that are sampled, and candidates among which two parents are searched.
MATRICES, TOGETHER = 8, 6
#: Candidates after which memory is reclaimed.
CYCLES = 16
#: Bytes of both sides that the best candidate's whole comparison may read; above, its samples decide.
WHOLE = 64 << 30
#: The share of the distance to the nearer parent that a sum of two may leave, squared, and the least weight of each.
LEFT, LEAST = 0.05, 0.02
#: What F32 sums are off by, relative to the values.
FINEST = 2.0**-22

#: Name of a matrix of the target → its elements.
Samples = dict[str, Array]


class Candidate(NamedTuple):
    """One model that the target may come from."""

    target: str
    relation: Relation | None  # what the target is to it: a is the candidate, b the target; None if it cannot be read
    score: float  # 1 for equal values; less the further they are; 0 for those of strangers
    error: str = ""


class Parents(Tabular):
    """The candidates, best first, and what the target is."""

    __slots__ = ("candidates", "relation", "target")

    def __init__(self, target: str, candidates: tuple[Candidate, ...], relation: Relation | None) -> None:
        self.target, self.candidates = target, candidates
        self.relation = relation  # of two parents together, or to the best one; None if there is none

    def __repr__(self) -> str:
        return f"<Parents of {self.target}: {len(self.candidates)} candidates>"


def parents(
    target: Reconciliation,
    candidates: Sequence[str],
    read: Callable[[str], Reconciliation],
    done: Callable[[int, int], object] = lambda *_: None,
) -> Parents:
    """Rank candidates by how near their values are to the target's.

    Args:
        candidates: targets, the target itself not among them.
        read: opens and reconciles one.
        done: called with the number of candidates that were looked at, and of all.

    Raises:
        SourceError: the target cannot be read. A candidate that cannot be is one with an error.
    """
    found: list[Candidate] = []
    near: list[tuple[float, str, Samples]] = []
    own, steps = _own_samples(target)
    for number, name in enumerate(candidates, 1):
        try:
            each, held = _judged(name, read(name), target, own)
        except InspectorError as error:
            each, held = Candidate(name, None, 0.0, str(error)), {}
        found.append(each)
        if held:
            near = sorted([*near, (each.score, name, held)], key=lambda item: -item[0])[:TOGETHER]
        if number % CYCLES == 0:
            gc.collect()  # what was read refers to itself, and would otherwise pile up
        done(number, len(candidates))
    found.sort(key=lambda each: (-each.score, bool(each.error), each.target))
    if not found or not found[0].score:
        return Parents(target.checkpoint.target, tuple(found), None)
    together = _together(own, steps, [(name, held) for _, name, held in near]) if found[0].score < 1 else None
    best = found[0]
    if together is None:
        best = best._replace(relation=_whole(read(best.target), target) or best.relation)
        found[0] = best
    return Parents(target.checkpoint.target, tuple(found), together or best.relation)


def _whole(candidate: Reconciliation, target: Reconciliation) -> Relation | None:
    """What `inspect diff --data` says; None for models that are too large to be read whole."""
    if candidate.on_disk + target.on_disk > WHOLE:
        return None
    with closing(Comparison(diff(candidate, target))) as comparison:
        return of_values(comparison.run(), comparison)


def _own_samples(target: Reconciliation) -> tuple[Samples, Array]:
    """Some values of some matrices, and the squared steps to which they may have been rounded."""
    large = [each for each in target.tensors if len(each.tensor.shape) > 1 and each.parameters >= SAMPLE]
    ranked = sorted(large, key=lambda each: (each.key.layer is None, each.key.layer or 0))
    chosen = [ranked[at] for at in _spread(len(ranked))]
    found: Samples = {}
    with closing(Weights(target)) as weights:
        for each in chosen:
            if weights.is_defined(each):
                start, stop = _middle(each.parameters)
                found[each.tensor.name] = np.nan_to_num(weights.values(each, start, stop))
        dtypes = {each.tensor.name: each.tensor.dtype for each in chosen}
    gaps = [spacing(values, dtypes[name]) for name, values in found.items()]
    known = [np.zeros(1) if gap is None else gap for gap in gaps]
    return found, np.concatenate([each.reshape(-1) ** 2 for each in known]) if known else np.zeros(1)


def _spread(count: int) -> list[int]:
    return sorted({count * at // MATRICES for at in range(MATRICES)} & set(range(count)))


def _middle(elements: int) -> tuple[int, int]:
    """Where the sample of so many elements begins and ends."""
    start = max(0, (elements - SAMPLE) // 2)
    return start, min(start + SAMPLE, elements)


def _judged(name: str, candidate: Reconciliation, target: Reconciliation, own: Samples) -> tuple[Candidate, Samples]:
    """A candidate's relation by its samples, and these if it is related."""
    result = diff(candidate, target)
    if result.shared < FOREIGN:
        return Candidate(name, of_headers(result), 0.0), {}
    held: Samples = {}
    pairs = {pair.b.tensors[0].tensor.name: pair for pair in result.pairs if pair.a and pair.b}
    with closing(Comparison(result)) as comparison:
        for matrix, values in own.items():
            pair = pairs.get(matrix)
            if pair is None or (total := comparison.plain(pair)) is None:
                continue
            held[matrix] = np.nan_to_num(comparison.values(pair, *_middle(total))[0])
            if held[matrix].size != values.size:
                del held[matrix]
        cosine, score = _nearness(own, held)
        if cosine < STRANGE and _depth(candidate) != _depth(target):
            cosine = _of_layers(comparison, candidate, target)
            score, held = cosine, {}
    if cosine < STRANGE:
        evidence = (f"cosine {cosine:.3f} over samples",)
        return Candidate(
            name, Relation("unrelated", "b is unrelated to a: their values have nothing in common", evidence), 0.0
        ), {}
    return Candidate(name, _by_samples(cosine, score), score), held


def _by_samples(cosine: float, score: float) -> Relation:
    if score == 1:
        return Relation(
            "same_values", "b has the values of a", ("equal in all samples",), "diff --data compares all values"
        )
    evidence = (f"cosine {cosine:.4f} over samples",)
    return Relation("finetuned", "b is related to a", evidence, "diff --data says how")


def _nearness(own: Samples, held: Mapping[str, Array]) -> tuple[float, float]:
    """The cosine of all samples, and one less their distance relative to the target's."""
    if not held:
        return 0.0, 0.0
    a, b = (np.concatenate([each[name] for name in held]).astype(np.float64) for each in (held, own))
    squares = float(a @ a), float(b @ b)
    if not all(squares):
        return 0.0, 0.0
    cosine = float(a @ b) / sqrt(squares[0] * squares[1])
    apart = sqrt(float((a - b) @ (a - b)) / squares[1])
    return cosine, max(1 - apart, 0.0) if cosine >= STRANGE else 0.0


def _depth(result: Reconciliation) -> int:
    return max((each.key.layer or 0 for each in result.tensors), default=0)


def _of_layers(comparison: Comparison, candidate: Reconciliation, target: Reconciliation) -> float:
    """The cosine of the target's layers with those of the candidate that each resembles most."""
    a, b = (
        samples(weights, side.tensors) for weights, side in zip(comparison.weights(), (candidate, target), strict=True)
    )
    found = [cosine for like, cosine in aligned(a, b).values() if like is not None]
    return sum(found) / len(b) if len(found) * 2 > len(b) else 0.0


# --- two parents -------------------------------------------------------------------------------------


def _together(own: Samples, steps: Array, near: Sequence[tuple[str, Samples]]) -> Relation | None:
    """Two of the nearest of which the target is a sum, with a third as their base; None if there are none."""
    whole = [(name, held) for name, held in near if held.keys() == own.keys()]
    target = np.concatenate([own[name] for name in own]).astype(np.float64) if own else np.zeros(0)
    arrays = {name: np.concatenate([held[each] for each in own]).astype(np.float64) for name, held in whole}
    noise = float(steps.mean()) / 12 * 1.25 + float(np.mean((target * FINEST) ** 2)) if target.size else 0.0
    pairs = (_fit(target, arrays, names, None, noise) for names in combinations(arrays, 2))
    triples = (
        _fit(target, arrays, names, base, noise)
        for base in sorted(arrays, key=lambda each: sum(_apart(arrays[each], other) for other in arrays.values()))
        for names in combinations([each for each in arrays if each != base], 2)
    )
    fits = chain(pairs, triples)
    return next((found for found in fits if found is not None), None)


def _apart(a: Array, b: Array) -> float:
    return float(np.mean((a - b) ** 2))


def _fit(
    target: Array, arrays: Mapping[str, Array], names: tuple[str, str], base: str | None, noise: float
) -> Relation | None:
    """The target as a sum of two parents, with weights that add up to one, or of what they changed in a base."""
    first, second = (arrays[name] for name in names)
    if base is None:
        change, along = target - first, (second - first)[:, None]
    else:
        change, along = target - arrays[base], np.stack([first - arrays[base], second - arrays[base]], axis=1)
    weights = np.linalg.lstsq(along, change, rcond=None)[0]
    left = change - along @ weights
    apart = min(_apart(target, each) for each in (first, second))
    share = float(np.mean(left**2))
    given = (1 - weights[0], weights[0]) if base is None else tuple(weights)
    if share > LEFT * apart + noise or apart <= 2 * noise or min(given) < LEAST:
        return None
    parts = " + ".join(f"{weight:.3g} × {name}" for weight, name in zip(given, names, strict=True))
    evidence = (f"a share of {sqrt(share / max(apart, 1e-300)):.2g} of the distance to the nearer parent is left",)
    if base is not None:
        what = f"what two models changed in {base}, added to it: {parts} (task arithmetic)"
        return Relation("merged", f"b is merged: {what}", evidence)
    return Relation("merged", f"b is merged of two models: {parts} (linear, or spherical between near ones)", evidence)
