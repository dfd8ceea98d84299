"""Which of some candidates a model was made from: ranked by samples of values, and the best one compared whole.

    parents(target, candidates) → each with its relation and its score, the best first; two at once if it is a merge

Headers come first: what has no weight in the target's shapes is read no further. Of the others the same few thousand
elements of some matrices are compared; memory holds the samples of those that are related, not the models.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from math import sqrt
from typing import NamedTuple

import numpy as np

from inspector.comparing.agreement import Relation
from inspector.comparing.data import Comparison
from inspector.comparing.diff import diff
from inspector.comparing.merging import Samples, together
from inspector.comparing.probing import SAMPLE, aligned, samples
from inspector.comparing.rearranging import products
from inspector.comparing.relation import FOREIGN, STRANGE, TURNED, of_headers, of_values
from inspector.errors import InspectorError
from inspector.formats.decoding import Array
from inspector.measuring.weights import Weights
from inspector.model import Reconciliation
from inspector.quantization.precision import spacing
from inspector.tabular import Tabular
from inspector.units import escape, plural

#: Matrices of the target that are sampled, and candidates among which combinations of parents are sought.
MATRICES, TOGETHER = 8, 6
#: Candidates after which memory is reclaimed.
CYCLES = 16
#: Bytes of both sides that the best candidate's whole comparison may read; above, its samples decide.
WHOLE = 64 << 30


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
        return f"<Parents of {escape(self.target, 100)}: {plural(len(self.candidates), 'candidate')}>"


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
    own, gaps = _own_samples(target)
    for number, name in enumerate(candidates, 1):
        try:
            each, held = _candidate_of(name, read(name), target, own)
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
    best = found[0]
    merged = together(own, gaps, [(name, held) for _, name, held in near]) if best.score < 1 else None
    if merged is None:
        best = best._replace(relation=_whole(read(best.target), target) or best.relation)
        found[0] = best
    return Parents(target.checkpoint.target, tuple(found), merged or best.relation)


class Family(NamedTuple):
    """Models with values in common."""

    targets: tuple[str, ...]  # in the order that was given
    same: int  # how many have the values of the first, it included; the others are near
    on_disk: int


def families(names: Sequence[str], read: Callable[[str], Reconciliation]) -> list[Family]:
    """Models of one structure, grouped by samples of their values; those that are alone are left out.

    Args:
        names: targets. Those that cannot be read are left out.
        read: opens and reconciles one.
    """
    found: list[tuple[Reconciliation, Samples, list[tuple[str, float, int]]]] = []
    for name in names:
        try:
            each = read(name)
            for head, own, members in found:
                nearness = _candidate_of(name, each, head, own)[0].score
                if nearness:
                    members.append((name, nearness, each.on_disk))
                    break
            else:
                found.append((each, _own_samples(each)[0], [(name, 1.0, each.on_disk)]))
        except InspectorError:
            continue
    return [
        Family(
            tuple(name for name, _, _ in members), sum(score == 1 for _, score, _ in members),
            sum(nbytes for _, _, nbytes in members),
        )
        for _, _, members in found
        if len(members) > 1
    ]  # fmt: skip


def _whole(candidate: Reconciliation, target: Reconciliation) -> Relation | None:
    """What `inspect diff --data` says; None for models that are too large to be read whole."""
    if candidate.on_disk + target.on_disk > WHOLE:
        return None
    with closing(Comparison(diff(candidate, target))) as comparison:
        return of_values(comparison.run(), comparison)


def _own_samples(target: Reconciliation) -> tuple[Samples, Samples]:
    """Some values of some matrices, and the gaps between stored numbers there; 0 for blocks."""
    large = [each for each in target.tensors if len(each.tensor.shape) > 1 and each.parameters >= SAMPLE]
    ranked = sorted(large, key=lambda each: (each.key.layer is None, each.key.layer or 0))
    chosen = [ranked[at] for at in _spread(len(ranked))]
    found: dict[str, Array] = {}
    with closing(Weights(target)) as weights:
        for each in chosen:
            if weights.is_defined(each):
                start, stop = _middle(each.parameters)
                found[each.tensor.name] = np.nan_to_num(weights.values(each, start, stop))
        dtypes = {each.tensor.name: each.tensor.dtype for each in chosen}
    gaps = {name: spacing(values, dtypes[name]) for name, values in found.items()}
    return found, {name: np.zeros_like(found[name]) if gap is None else gap for name, gap in gaps.items()}


def _spread(count: int) -> list[int]:
    return sorted({count * at // MATRICES for at in range(MATRICES)} & set(range(count)))


def _middle(elements: int) -> tuple[int, int]:
    """Where the sample of a tensor with this many elements begins and ends."""
    start = max(0, (elements - SAMPLE) // 2)
    return start, min(start + SAMPLE, elements)


def _candidate_of(
    name: str, candidate: Reconciliation, target: Reconciliation, own: Samples
) -> tuple[Candidate, Samples]:
    """A candidate's relation by its samples, and these if it is related."""
    result = diff(candidate, target)
    if result.shared < FOREIGN:
        return Candidate(name, of_headers(result), 0.0), {}
    held: dict[str, Array] = {}
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
        embedding = next((pair for pair in pairs.values() if pair.key.role == "embed_tokens"), None)
        if cosine < STRANGE and embedding is not None and (alike := products(comparison, embedding)) >= TURNED:
            cosine, score, held = alike, alike / 2, {}  # its heads, neurons or dimensions are in another order
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
