"""What samples of the values of tensors that differ reveal about how they came to differ.

low_rank(comparison, pair)         a small part of b − a: of which rank, or of none
direction(comparison, pair, rank)  whether b is a with a direction of its outputs or inputs removed
aligned(result, readers)           which layer, or expert, of a each of b is like
fault(comparison, pair)            where the elements are that differ, and whether they resemble what was there
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import NamedTuple

import numpy as np

from inspector.comparing.data import Comparison
from inspector.comparing.pairing import Pair
from inspector.errors import FormatError
from inspector.formats.decoding import Array
from inspector.measuring.weights import Weights
from inspector.model import STACKED, Key, Labelled
from inspector.quantization.precision import FLOATS, spacing

#: Rows and columns of a matrix whose difference is examined: of a sum of r products any r rows and columns have rank r.
SIDE = 288
#: Above this share of the smaller side a difference has no low rank.
LOW = 0.55
#: How far the largest singular value of rounding errors may be from its expectation.
EDGE = 1.25
#: Rounding in F32, on top of that to the dtypes: relative to the values.
FINEST = 2.0**-23
#: Elements of each layer, or expert, by which it is recognised.
SAMPLE = 4096
#: The least cosine of a layer with the one it was copied from; the least share of its square that a removal explains.
ALIKE, REMOVED = 0.5, 0.9
#: Elements that are scanned at once.
CHUNK = 1 << 19


class LowRank(NamedTuple):
    """The difference of a matrix on some of its rows and columns."""

    rank: int  # singular values above what rounding makes; 0 if all of it is rounding
    full: int  # the smaller side
    exact: bool  # whether what the rank leaves is no more than rounding


def low_rank(comparison: Comparison, pair: Pair) -> LowRank | None:
    """The rank of b − a on a part of a matrix; None if the pair is none, or in another order."""
    block = _block(comparison, pair)
    if block is None:
        return None
    a, b, steps = block
    change = b - a
    if not change.any():
        return None
    full = min(change.shape)
    values = np.linalg.svd(change, compute_uv=False).astype(np.float64)
    noise = _noise(a, b, steps)
    edge = EDGE * noise * (np.sqrt(change.shape[0]) + np.sqrt(change.shape[1]))
    rank = int(np.count_nonzero(values > edge))
    left = float(np.sum(values[rank:] ** 2))
    return LowRank(rank, full, rank <= full * LOW and left <= EDGE**2 * noise**2 * change.size)


def _noise(a: Array, b: Array, steps: Array) -> float:
    """The standard deviation of what rounding adds: that to nearest is uniform over a step."""
    square = float(np.mean(steps.astype(np.float64) ** 2)) / 12
    return float(np.sqrt(square + FINEST**2 * float(np.mean(np.abs(a) + np.abs(b)) ** 2)))


def _block(comparison: Comparison, pair: Pair) -> tuple[Array, Array, Array] | None:
    """The first rows and some columns of both sides, and the spacing of b's dtype."""
    shape = comparison.matrix(pair)
    if shape is None:
        return None
    rows, columns = min(shape[0], SIDE), shape[1]
    chosen = np.unique(np.linspace(0, columns - 1, min(columns, SIDE)).astype(int))
    a, b = (side.reshape(rows, columns)[:, chosen] for side in comparison.values(pair, 0, rows * columns))
    dtypes = [side.dtype for side in (pair.a, pair.b) if side]
    steps = [found for dtype in dtypes if (found := spacing(b, dtype)) is not None]
    if len(steps) < len(dtypes):
        return None
    return np.nan_to_num(a), np.nan_to_num(b), np.maximum(*steps) if dtypes[0] != dtypes[1] else steps[1]


def is_rounding(comparison: Comparison, pair: Pair, dtype: str, *, of_b: bool) -> bool:
    """Whether one side has the other's values rounded, or truncated, to a float that is coarser than its own."""
    total, stored = comparison.plain(pair), pair.b if of_b else pair.a
    if total is None or stored is None or stored.dtype not in FLOATS or FLOATS[stored.dtype] <= FLOATS[dtype]:
        return False
    for start in range(0, total, CHUNK):
        x, y = comparison.values(pair, start, min(start + CHUNK, total))[:: 1 if of_b else -1]
        gap = spacing(x, dtype)  # not y's: zero has none
        with np.errstate(all="ignore"):
            if gap is None or not ((x == y) | ((np.fmod(y, gap) == 0) & (np.abs(x - y) < gap))).all():
                return False
    return True


class Direction(NamedTuple):
    """Directions that are missing from a matrix's outputs, or inputs."""

    vectors: Array  # [size, rank], orthonormal
    of_outputs: bool


def direction(comparison: Comparison, pair: Pair, rank: int) -> Direction | None:
    """The directions removed from a matrix; None if its change is another one.

    Removing r from the outputs of W leaves W − c·r·(rᵀW): the change is made of what W itself has in that direction,
    which that of an adapter is not.
    """
    shape = comparison.matrix(pair)
    if shape is None or rank < 1:
        return None
    chosen = np.unique(np.linspace(0, shape[1] - 1, min(shape[1], SIDE)).astype(int))
    parts = [(a[:, chosen], b[:, chosen]) for _, a, b, _ in comparison.rows(pair, CHUNK)]
    a, b = (np.concatenate(side).astype(np.float64) for side in zip(*parts, strict=True))
    found = _removed(a, b - a, rank)
    if found is not None:
        return Direction(found, of_outputs=True)
    rows = min(shape[0], SIDE)
    a, b = (side.reshape(rows, shape[1]).astype(np.float64) for side in comparison.values(pair, 0, rows * shape[1]))
    found = _removed(a.T, (b - a).T, rank)
    return None if found is None else Direction(found, of_outputs=False)


def _removed(matrix: Array, change: Array, rank: int) -> Array | None:
    """An orthonormal basis of the directions, if the change is a multiple of what the matrix has in them."""
    vectors: Array = np.linalg.svd(np.nan_to_num(change), full_matrices=False)[0][:, :rank]
    own, made = vectors.T @ np.nan_to_num(matrix), vectors.T @ np.nan_to_num(change)
    fit = np.linalg.lstsq(own.T, made.T, rcond=None)[0]
    left = np.sum((made.T - own.T @ fit) ** 2)
    return vectors if left <= (1 - REMOVED) * np.sum(made**2) else None


def shared(found: Sequence[Direction]) -> bool:
    """Whether all of some directions of one size are the same."""
    first = found[0].vectors
    like = [np.sum((first.T @ each.vectors) ** 2) / min(first.shape[1], each.vectors.shape[1]) for each in found]
    return all(share >= REMOVED for share in like)


# --- layers and experts ------------------------------------------------------------------------------


class Unit(NamedTuple):
    """A layer, or an expert of one."""

    tower: str
    layer: int
    expert: int | None = None


Samples = Mapping[Unit, Mapping[tuple[object, ...], Array]]


def samples(weights: Weights, tensors: Sequence[Labelled], *, experts: bool = False) -> Samples:
    """Some values of the matrices of each layer, or of each expert, by role and shape."""
    found: dict[Unit, dict[tuple[object, ...], Array]] = defaultdict(dict)
    for each in tensors:
        shape = weights.shape(each)
        if each.key.layer is None or not each.parameters or len(shape) < 2 or (each.key.expert is not None) != experts:
            continue
        for unit, start, size in _units(each.key, shape):
            held = found[unit]
            place = (each.key.branch, each.key.role, each.key.part, shape[-2:])
            if len(held) < 4 and place not in held:
                with suppress(FormatError):
                    middle = start + max(0, (size - SAMPLE) // 2)
                    held[place] = np.nan_to_num(weights.values(each, middle, min(middle + SAMPLE, start + size)))
    return found


def _units(key: Key, shape: Sequence[int]) -> Iterator[tuple[Unit, int, int]]:
    assert key.layer is not None
    if key.expert == STACKED:
        size = prod(shape[1:])
        yield from ((Unit(key.tower, key.layer, expert), expert * size, size) for expert in range(shape[0]))
    else:
        yield Unit(key.tower, key.layer, key.expert), 0, prod(shape)


def aligned(a: Samples, b: Samples, *, within_layers: bool = False) -> dict[Unit, tuple[Unit | None, float]]:
    """For each unit of b the one of a that it resembles most, and their cosine; None if it resembles none."""
    found: dict[Unit, tuple[Unit | None, float]] = {}
    for unit, own in b.items():
        among = [each for each in a if each.tower == unit.tower and (not within_layers or each.layer == unit.layer)]
        alike = [(_cosine(a[each], own), each == unit, each) for each in among]
        best = max(alike, key=lambda each: each[:2], default=None)
        found[unit] = (best[2], best[0]) if best and best[0] >= ALIKE else (None, best[0] if best else 0.0)
    return found


def _cosine(a: Mapping[tuple[object, ...], Array], b: Mapping[tuple[object, ...], Array]) -> float:
    both = [place for place in a if place in b and a[place].size == b[place].size]
    product, squares = 0.0, [0.0, 0.0]
    for place in both:
        product += float(np.vdot(a[place], b[place]))
        squares = [squares[0] + float(np.vdot(a[place], a[place])), squares[1] + float(np.vdot(b[place], b[place]))]
    return product / np.sqrt(squares[0] * squares[1]) if all(squares) else 0.0


#: Tensors that are looked for by their values alone, and elements of each.
SOUGHT, BY = 64, 1024


def found_by_values(weights: Sequence[Weights], sides: Sequence[Sequence[Labelled]]) -> list[float]:
    """For some of b's matrices the cosine with the one of a, under any name, that is most like it; 0 without any."""
    by_shape: dict[tuple[int, ...], list[Array]] = defaultdict(list)
    large = [[each for each in side if len(each.tensor.shape) > 1 and each.parameters >= BY] for side in sides]
    sought = large[1][:: max(1, len(large[1]) // SOUGHT)]
    shapes = {weights[1].shape(each) for each in sought}
    for each in large[0]:
        if (shape := weights[0].shape(each)) in shapes:
            by_shape[shape] += _middle(weights[0], each)
    found = []
    for each in sought:
        among, own = by_shape[weights[1].shape(each)], _middle(weights[1], each)
        found.append(float(np.max(np.stack(among) @ own[0], initial=0)) if among and own else 0.0)
    return found


def _middle(weights: Weights, each: Labelled) -> list[Array]:
    """Some values, of length one; none if they cannot be decoded."""
    start = (each.parameters - BY) // 2
    with suppress(FormatError):
        values = np.nan_to_num(weights.values(each, start, start + BY)).astype(np.float64)
        return [values / (float(np.linalg.norm(values)) or 1.0)]
    return []


# --- faults ------------------------------------------------------------------------------------------


class Fault(NamedTuple):
    """The elements of a tensor that differ."""

    elements: int
    first: int
    last: int
    cosine: float | None  # of these elements' values; None if either has only zeros
    constant: bool  # whether b has one and the same value in all of them
    bits: int | None  # bits that differ in all of them together, if both have the same dtype


def fault(comparison: Comparison, pair: Pair) -> Fault | None:
    """Which elements differ; None if the pair is in another order."""
    total = comparison.plain(pair)
    if total is None:
        return None
    count, first, last, product, squares, values = 0, -1, -1, 0.0, [0.0, 0.0], set[float]()
    for start in range(0, total, CHUNK):
        a, b = comparison.values(pair, start, min(start + CHUNK, total))
        places = np.flatnonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
        if not places.size:
            continue
        count, first = count + places.size, start + int(places[0]) if first < 0 else first
        last = start + int(places[-1])
        values |= set(np.unique(b[places])[:2].tolist())
        x, y = (np.nan_to_num(side[places].astype(np.float64)) for side in (a, b))
        product += float(x @ y)
        squares = [squares[0] + float(x @ x), squares[1] + float(y @ y)]
    cosine = product / np.sqrt(squares[0] * squares[1]) if all(squares) else None
    return Fault(count, first, last, cosine, len(values) == 1, _bits(comparison, pair, first, last, count))


def _bits(comparison: Comparison, pair: Pair, first: int, last: int, count: int) -> int | None:
    """How many bits differ in the elements of a range."""
    raw = comparison.raw(pair, first, last + 1) if count and last - first < CHUNK else None
    if raw is None or len(raw[0]) != len(raw[1]):
        return None
    apart = np.frombuffer(raw[0], np.uint8) ^ np.frombuffer(raw[1], np.uint8)
    return int(np.unpackbits(apart).sum())
