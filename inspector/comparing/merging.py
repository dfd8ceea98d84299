"""What a model is a merge of, by samples of its values and of those that it may be made of.

    together(target, gaps, candidates) → "0.6 × one + 0.4 × other (linear)", "… added to base (TIES …)", or None

A sum leaves nothing: linear and spherical merges are sums of the models, task arithmetic is one of what they changed
in a base. TIES (Yadav et al., 2023) keeps the largest changes, and of these the ones that agree in sign; DARE (Yu et
al., 2023) keeps random ones, scaled up. In both each element has the changes of some of the models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import sqrt
from typing import NamedTuple

import numpy as np

from inspector.comparing.agreement import Relation
from inspector.formats.decoding import Array

#: Name of a matrix of the target → its elements.
Samples = Mapping[str, Array]

#: The square of what a sum may leave, relative to the distance to the nearer parent, beyond rounding; the same where
#: the rounding is unknown; the least weight of a parent.
LEFT, LEFT_OF_BLOCKS, LEAST = 1e-3, 0.05, 0.02
#: What F32 sums are off by, relative to the values.
FINEST = 2.0**-22
#: The square of a candidate's distance to another, relative to the target's, up to which it is a copy.
COPY = 1e-3
#: Models that are merged, at most.
PARENTS = 3
#: How much less than the others' the cosine of what two models changed in a third is, if that is their base: in one
#: that was made from the same base it is 0.5.
APART = 0.1
#: How far the sum of the weights of two models may be from one: on the arc between two fine-tunes it is not one.
BOW = 0.1
#: Standard errors from which on a deviation is one; how far weights of matrices are from each other in a schedule.
SURE, SPREAD = 6.0, 0.02
#: Roundings from which on a change says which multiple of it there is; elements with such changes that are looked at,
#: at least and at most.
CLEAR, FEWEST, LOOKED_AT = 12.0, 200, 4000
#: The share of the target's change that the models' explain in any case; the largest share of theirs that DARE keeps.
ALIKE, DENSE = 0.05, 0.9
#: Times that weights are fitted to the elements that they explain.
REFINED = 4
#: The share of clear changes that a sparse merge has to explain; and the share that it may explain of the same changes
#: in another order, which is chance.
EXPLAINED, CHANCE = 0.95, 0.6
#: The least share of each model's changes that is kept, or is not.
KEPT = 0.03
#: Computing a merge in BF16 rounds each change, relative to it; scales of kept changes are off by more in each matrix.
COMPUTED, SCALED = 2.0**-6, 0.08
#: How often a change that is kept is larger than one that is not, if the largest are kept.
LARGER = 0.8


class _Samples(NamedTuple):
    """The target's values and those of its candidates, one after the other."""

    target: Array
    gaps: Array  # between the target's stored numbers, at each of its values
    arrays: Mapping[str, Array]
    bounds: tuple[int, ...]  # where matrices begin, and the end

    @property
    def parts(self) -> Iterator[slice]:
        return (slice(*each) for each in zip(self.bounds, self.bounds[1:], strict=False))

    @property
    def noise(self) -> float:
        """The mean square of what rounding adds."""
        return float(np.mean(self.gaps**2)) / 12 * 1.25 + float(np.mean((self.target * FINEST) ** 2))


def together(own: Samples, gaps: Samples, near: Sequence[tuple[str, Samples]]) -> Relation | None:
    """Two or three of the nearest that the target is merged of, perhaps in a further one; None if there are none.

    Args:
        own: some values of the target's matrices.
        gaps: the distance of its stored numbers at each of them; 0 where it is unknown.
        near: candidates with their values in the same places; those that lack a matrix are left out.
    """
    if not own:
        return None
    target, arrays = _in_one_row(own, own), dict[str, Array]()
    for name, held in near:
        if held.keys() == own.keys():
            values = _in_one_row(held, own)
            if all(_apart(values, each) > COPY * _apart(target, each) for each in arrays.values()):
                arrays[name] = values
    bounds = np.cumsum([0, *(each.size for each in own.values())])
    found = _Samples(target, _in_one_row(gaps, own), arrays, tuple(map(int, bounds)))
    return next((each for each in chain(_sums(found), _sparse_sums(found)) if each is not None), None)


def _in_one_row(held: Samples, order: Samples) -> Array:
    return np.concatenate([held[name].reshape(-1) for name in order]).astype(np.float64)


def _apart(a: Array, b: Array) -> float:
    return float(np.mean((a - b) ** 2))


# --- sums --------------------------------------------------------------------------------------------


def _sums(found: _Samples) -> Iterator[Relation | None]:
    for size in range(2, PARENTS + 1):
        yield from (_sum(found, names) for names in combinations(found.arrays, size))
    for size in range(2, PARENTS + 1):
        for base in _bases(found):
            others = [name for name in found.arrays if name != base]
            yield from (_sum(found, names, base) for names in combinations(others, size))


def _bases(found: _Samples) -> list[str]:
    """Candidates, those in the middle of the others first."""
    arrays = found.arrays
    return sorted(arrays, key=lambda each: sum(_apart(arrays[each], other) for other in arrays.values()))


def _sum(found: _Samples, names: Sequence[str], base: str | None = None) -> Relation | None:
    """The target as a sum of models whose weights add up to one, or of what they changed in a base."""
    arrays = found.arrays
    apart = min(_apart(found.target, arrays[name]) for name in names)
    allowed = (LEFT if found.gaps.any() else LEFT_OF_BLOCKS) * apart + found.noise
    if apart <= 2 * found.noise:
        return None
    if base is None and len(names) == 2:
        return _between(found, names, allowed, apart)
    origin = arrays[names[0] if base is None else base]
    along = np.stack([arrays[name] - origin for name in names if arrays[name] is not origin], axis=1)
    change = found.target - origin
    weights = np.linalg.lstsq(along, change, rcond=None)[0]
    share = float(np.mean((change - along @ weights) ** 2))
    if base is None:
        weights = np.concatenate([[1 - weights.sum()], weights])
    if share > allowed or weights.min() < LEAST:
        return None
    evidence = _left(share, apart)
    if base is not None:
        return _merge_relation(f"{_changes(names, base)}: {_terms(names, weights)} (task arithmetic)", evidence)
    centre = _centre(arrays, names)
    if centre is None:
        return _merge_relation(f"three models: {_terms(names, weights)} (linear)", evidence)
    others = [name for name in names if name != centre]
    how = f"task arithmetic, or linear with {weights[names.index(centre)]:.3g} × {centre}"
    own = [weights[names.index(name)] for name in others]
    return _merge_relation(f"{_changes(others, centre)}: {_terms(others, own)} ({how})", evidence)


def _left(share: float, apart: float) -> tuple[str]:
    return (f"a share of {sqrt(share / max(apart, 1e-300)):.2g} of the distance to the nearer parent is left",)


def _centre(arrays: Mapping[str, Array], names: Sequence[str]) -> str | None:
    """Of three models the one that the others were made from, if what these changed in it is the most unlike."""
    cosines = []
    for base in names:
        first, second = (arrays[name] - arrays[base] for name in names if name != base)
        cosines.append((float(first @ second) / sqrt(float(first @ first) * float(second @ second)), base))
    least, *others = sorted(cosines)
    return least[1] if least[0] < others[0][0] - APART else None


def _between(found: _Samples, names: Sequence[str], allowed: float, apart: float) -> Relation | None:
    """The target as a sum of two models, with the same weights in all matrices or others in each.

    Between two models there is a line, and an arc of the angle θ with the weights sin((1 − t)θ) / sin θ and
    sin(tθ) / sin θ, which add up to more than one.
    """
    x, y = (found.arrays[name] for name in names)
    left, line, arc, bow = np.zeros(x.size), list[float](), list[float](), np.zeros(2)
    for part in found.parts:
        own = np.stack([x[part], y[part]], axis=1)
        if not (own[:, 0] - own[:, 1]).any():
            left[part] = found.target[part] - own[:, 0]
            continue
        first, second = np.linalg.lstsq(own, found.target[part], rcond=None)[0]
        if abs(first + second - 1) > BOW:
            return None
        left[part] = found.target[part] - own @ (first, second)
        squares = (own**2).sum(axis=0)
        angle = float(np.arccos(np.clip(own[:, 0] @ own[:, 1] / np.sqrt(squares.prod()), -1, 1))) or 1e-9
        line.append(float(second / (first + second)))
        arc.append(float(np.arctan2(second * np.sin(angle), first + second * np.cos(angle))) / angle)
        added = (np.sin((1 - arc[-1]) * angle) + np.sin(arc[-1] * angle)) / np.sin(angle) - 1
        bow += squares.min() * added * np.array([first + second - 1, added])
    is_arc, share = bow[0] > bow[1] / 2, float(np.mean(left**2))
    places = arc if is_arc else line
    if share > allowed or not places or min(places) < -SPREAD or max(places) > 1 + SPREAD:
        return None
    mean = sum(places) / len(places)
    if not LEAST < mean < 1 - LEAST:
        return None
    how = "spherical, slerp" if is_arc else "linear"
    if sqrt(bow[1]) <= SURE * sqrt(found.noise):
        how = "linear, or spherical: they are too near to tell"
    if max(places) - min(places) > SPREAD:
        how += f", by other weights in each layer: {min(places):.2g} to {max(places):.2g} of the latter"
    return _merge_relation(f"two models: {_terms(names, (1 - mean, mean))} ({how})", _left(share, apart))


def _terms(names: Sequence[str], weights: Sequence[float] | Array) -> str:
    return " + ".join(f"{weight:.3g} × {name}" for weight, name in zip(weights, names, strict=True))


def _changes(names: Sequence[str], base: str) -> str:
    counted = {1: "one model", 2: "two models", 3: "three models"}[len(names)]
    return f"what {counted} changed in {base}, added to it"


def _merge_relation(what: str, evidence: tuple[str, ...]) -> Relation:
    return Relation("merged", f"b is merged: {what}" if what.startswith("what") else f"b is merged of {what}", evidence)


# --- sparse sums -------------------------------------------------------------------------------------


class _Sparse(NamedTuple):
    """What each of some elements has of some models' changes."""

    names: Sequence[str]
    base: str
    weights: Array  # of each model's change, where it is the only one
    changes: Array  # [elements, models]
    chosen: Array  # [elements, models]: whether the element has it
    matrices: Array  # of each element
    averaged: bool  # whether several changes are averaged, not added up, as TIES does
    explained: float  # the share of elements that have a sum, beyond what chance explains


def _sparse_sums(found: _Samples) -> Iterator[Relation | None]:
    for size in range(1, PARENTS + 1):
        fits = [
            each
            for base in _bases(found)
            for names in combinations([name for name in found.arrays if name != base], size)
            for each in _fitted(found, names, base)
            if each.explained >= EXPLAINED and each.weights.min() >= LEAST
        ]
        yield from (_sparse(found, each) for each in sorted(fits, key=lambda each: -each.explained))


def _sparse(found: _Samples, best: _Sparse) -> Relation | None:
    """A base with some of what models changed in it."""
    agree = np.abs(np.sign(best.changes).sum(axis=1)) == len(best.names)
    kept = best.chosen[agree].mean(axis=0) if agree.any() else np.ones(len(best.names))
    if best.chosen.all(axis=1).mean() > 1 - KEPT or best.chosen.mean(axis=0).min() < KEPT:
        return None
    weights, signs = best.weights, "where they agree in sign"
    if best.averaged or _larger(best, agree) >= LARGER:
        kept = _largest(found, best, agree, kept)
        how = f"TIES: the largest {_shares(kept)} of what each changed, {signs}"
    else:
        weights = np.round(best.weights * kept, 2)  # the share is counted in a sample
        how = f"DARE: a random {_shares(kept)} of what each changed, scaled up{f', {signs}' if _elects(best) else ''}"
    evidence = (f"{best.explained * 100:.0f} % of changes are explained, element by element, beyond chance",)
    return _merge_relation(f"{_changes(best.names, best.base)}: {_terms(best.names, weights)} ({how})", evidence)


def _shares(kept: Array) -> str:
    return " and ".join(f"{share * 100:.0f} %" for share in kept)


def _fitted(found: _Samples, names: Sequence[str], base: str) -> Iterator[_Sparse]:
    """Each element with the sum of changes that is nearest, added up, and averaged."""
    origin = found.arrays[base]
    changes = np.stack([found.arrays[name] - origin for name in names], axis=1)
    room = found.gaps * 0.51 + np.abs(found.target) * FINEST
    clear = np.flatnonzero((np.abs(changes) > CLEAR * room[:, None]).all(axis=1))
    draw = np.random.default_rng(0)
    if clear.size > LOOKED_AT:
        clear = draw.choice(clear, LOOKED_AT, replace=False)
    change, changes, room = (found.target - origin)[clear], changes[clear], room[clear]
    nonzero = np.abs(change) > room
    if np.count_nonzero(nonzero) < FEWEST:
        return
    matrices = np.searchsorted(found.bounds, clear, side="right")
    whole = np.linalg.lstsq(changes, change, rcond=None)[0]
    if float(np.sum((change - changes @ whole) ** 2)) > (1 - ALIKE) * float(np.sum(change**2)):
        return
    blurred = (change + room * draw.uniform(-1, 1, change.size))[nonzero]  # stored numbers have few ratios
    alone = np.array([_mode(blurred, changes[nonzero, at]) for at in range(len(names))])
    subsets, best = _subsets(len(names)), None
    for sums in (*_starts(changes[nonzero], blurred, alone, room[nonzero]), _Sums(whole / DENSE, None)):
        if not (sums.weights > 0).all():
            continue
        for _ in range(REFINED):
            sums = _refined(changes, change, room, sums)
        own = _scaled(changes, change, room, sums.sets, matrices)
        chosen, explained = _explained(own, change, room, sums.sets, nonzero)
        if best is None or explained > best.explained:
            best = _Sparse(
                names, base, sums.alone, changes, subsets[chosen], matrices, sums.factor is not None, explained
            )
    if best is not None:
        yield best


class _Sums(NamedTuple):
    """The sums that an element may have: of weighted changes, or of their averages times a factor."""

    weights: Array  # of each model; if averaged, their sum is one
    factor: float | None  # None if they are added up

    @property
    def sets(self) -> Array:
        """Factors of each model's change in each set of models: [sets, models]."""
        weighed = _subsets(len(self.weights)) * self.weights
        if self.factor is None:
            return weighed
        averages: Array = self.factor * weighed / np.maximum(weighed.sum(axis=1), 1e-12)[:, None]
        return averages

    @property
    def alone(self) -> Array:
        return self.weights * (1.0 if self.factor is None else self.factor)


def _starts(changes: Array, change: Array, alone: Array, room: Array) -> Iterator[_Sums]:
    """By the most frequent multiples of each model's change; if these are one, by that of two averaged ones."""
    yield _Sums(alone, None)
    if len(alone) < 2 or not np.ptp(alone) <= SCALED * alone.max():
        return
    factor, shares = float(np.median(alone)), [1.0]
    allowed = room + np.abs(change) * SCALED
    single = (np.abs(change[:, None] - factor * changes) <= allowed[:, None]).any(axis=1)
    for at in range(1, len(alone)):
        # the average of two is factor · ((1 − ω) · first + ω · other), with one ω for all elements
        apart = changes[:, at] - changes[:, 0]
        rest = ~single & (np.abs(apart) > CLEAR * room)
        share = _mode(change[rest] / factor - changes[rest, 0], apart[rest])
        if not LEAST < share < 1 - LEAST:
            return
        shares.append(share / (1 - share))
    yield _Sums(np.array(shares) / sum(shares), factor)


def _refined(changes: Array, change: Array, room: Array, sums: _Sums) -> _Sums:
    """Weights by least squares over the elements that have one of the sums, each with its own."""
    sets = _subsets(len(sums.weights))
    best, fits = _nearest(changes @ sums.sets.T, change, room, SCALED)
    own, change = sets[best[fits]] * changes[fits], change[fits]
    if sums.factor is None:
        weights = np.linalg.lstsq(own, change, rcond=None)[0]
        return _Sums(weights, None) if (weights > 0).all() else sums
    single = sets[best[fits]].sum(axis=1) == 1
    alone = own[single].sum(axis=1)
    factor = float(alone @ change[single]) / max(float(alone @ alone), 1e-300)
    if not factor > 0:
        return sums
    # of all models together: the average of them, which has each one's weight
    ratios = sums.weights.copy()
    for at in range(1, len(ratios)):
        pair = best[fits] == 1 + (1 << at)
        apart = own[pair, at] - own[pair, 0]
        along = float(apart @ (change[pair] / factor - own[pair, 0])) / max(float(apart @ apart), 1e-300)
        if np.count_nonzero(pair) >= 12 and LEAST < along < 1 - LEAST:
            ratios[at] = ratios[0] * along / (1 - along)
    return _Sums(ratios / ratios.sum(), factor)


def _mode(numerators: Array, denominators: Array) -> float:
    """The most frequent ratio: the middle of the shortest interval with a small part of them; NaN if there are few."""
    ratios = np.sort(numerators / denominators)
    ratios = ratios[ratios > 1e-3]
    if ratios.size < 40:
        return float("nan")
    width = max(12, ratios.size // 40)
    at = int(np.argmin((ratios[width:] - ratios[:-width]) / ratios[width:]))
    return float(np.median(ratios[at : at + width + 1]))


def _subsets(models: int) -> Array:
    """All sets of models, none first: [sets, models]."""
    return (np.arange(2**models)[:, None] >> np.arange(models) & 1).astype(bool)


def _scaled(changes: Array, change: Array, room: Array, sets: Array, matrices: Array) -> Array:
    """Changes, scaled in each matrix to the factor that its elements with one of them have."""
    own: Array = changes.copy()
    best = _nearest(changes @ sets.T, change, room, SCALED)[0]
    for at in range(changes.shape[1]):
        alone = best == 1 << at
        for matrix in np.unique(matrices):
            there = alone & (matrices == matrix)
            if np.count_nonzero(there) >= 12:
                own[matrices == matrix, at] *= np.median(change[there] / changes[there, at]) / sets[1 << at, at]
    return own


def _nearest(sums: Array, change: Array, room: Array, relative: float) -> tuple[Array, Array]:
    """Which of its sums each element has, and whether it is as near as computing allows."""
    beyond = np.abs(change[:, None] - sums) / np.maximum(room[:, None] + np.abs(sums) * relative, 1e-300)
    best = beyond.argmin(axis=1)
    return best, np.take_along_axis(beyond, best[:, None], axis=1)[:, 0] <= 1


def _explained(changes: Array, change: Array, room: Array, sets: Array, nonzero: Array) -> tuple[Array, float]:
    """Which sum each element has, and the share of changed ones that have one, beyond chance."""
    sums = changes @ sets.T
    best, fits = _nearest(sums, change, room, COMPUTED)
    other = np.random.default_rng(0).permutation(change[nonzero])
    chance = float(_nearest(sums[nonzero], other, room[nonzero], COMPUTED)[1].mean())
    share = float(fits[nonzero].mean())
    return best, (share - chance) / (1 - chance) if chance < CHANCE else 0.0


def _larger(best: _Sparse, agree: Array) -> float:
    """How often a change that is kept is larger than one of its model and matrix that is not; 0 to 1."""
    wins, pairs = 0.0, 0
    for matrix in np.unique(best.matrices):
        there = agree & (best.matrices == matrix)
        for at in range(len(best.names)):
            sizes, kept = np.abs(best.changes[there, at]), best.chosen[there, at]
            ones = int(kept.sum())
            ranks = np.argsort(np.argsort(sizes)) + 1.0
            wins += float(ranks[kept].sum()) - ones * (ones + 1) / 2
            pairs += ones * (kept.size - ones)
    return wins / pairs if pairs else 1.0


def _largest(found: _Samples, best: _Sparse, agree: Array, kept: Array) -> Array:
    """The share of each model's changes that are as large as those that are kept, over matrices where some are not."""
    shares: Array = kept.copy()
    for at, name in enumerate(best.names):
        own = []
        for number, part in enumerate(found.parts, 1):
            there = agree & (best.matrices == number)
            sizes, chosen = np.abs(best.changes[there, at]), best.chosen[there, at]
            if chosen.any() and not chosen.all():
                least = (np.quantile(sizes[~chosen], 0.98) + np.quantile(sizes[chosen], 0.02)) / 2
                own.append(float(np.mean(np.abs(found.arrays[name] - found.arrays[best.base])[part] >= least)))
        shares[at] = np.mean(own) if own else kept[at]
    return shares


def _elects(best: _Sparse) -> bool:
    """Whether changes of opposite signs are never added: TIES elects one."""
    if len(best.names) < 2:
        return False
    both = best.chosen[:, 0] & best.chosen[:, 1]
    opposed = np.sign(best.changes[:, 0]) != np.sign(best.changes[:, 1])
    return bool(both.any()) and float(opposed[both].mean()) < 0.05
