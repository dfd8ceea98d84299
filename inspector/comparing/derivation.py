"""What the difference of two models' values reveals about how one was made from the other.

rank(comparison, pair)      singular values of b − a: is it a low-rank change, like a merged LoRA?
merge(first, second)        is b a weighted sum of two parents?
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from inspector.comparing.data import Comparison
from inspector.comparing.pairing import Pair
from inspector.formats.decoding import Array

#: The largest rank that is searched for, and additional random directions (Halko, Martinsson, Tropp: "Finding structure
#: with randomness", 2011, section 4.4).
MOST_RANK, BESIDE = 128, 16
#: Elements of the rows that are read at once.
ROWS = 1 << 20
#: Elements of each tensor by which a merge is judged, and the number of places they are from.
SAMPLE, PLACES = 1 << 15, 8
#: What rounding to nearest adds to the sum of squares, relative to squared steps, with some margin.
ROUNDING = 1.25 / 12
#: The relative error of a sum of squares computed in 32 bits.
PRECISION = 1e-6
#: A sum that leaves this share of b's norm unexplained is not a merge: BF16's rounding error is 2⁻⁸ of each number.
MERGED = 2.0**-7


class Rank(NamedTuple):
    """The difference of a matrix, as a sum of products of a column and a row."""

    rank: int | None  # None: more than `MOST_RANK`
    full: int  # the smaller dimension
    values: tuple[float, ...]  # the largest singular values, descending
    residual: float  # the share of the difference's norm that `rank` of them leave; 0 to 1


def rank(comparison: Comparison, pair: Pair) -> Rank | None:
    """The rank of b − a, up to rounding; None if the two are not matrices in the same order.

    The smallest rank whose residual is within rounding to b's dtype; 0 if the whole difference is.
    """
    shapes = comparison.matrix(pair)
    if shapes is None:
        return None
    rows, columns = shapes
    size = min(rows, columns, MOST_RANK + BESIDE)
    draw = np.random.default_rng(0)
    sketch = _orthogonal_base(_product_with(comparison, pair, draw.standard_normal((columns, size), np.float32)))
    inner, total, steps = np.zeros((sketch.shape[1], columns), np.float32), 0.0, 0.0
    for start, difference, step in _differences(comparison, pair):
        inner += sketch[start : start + len(difference)].T @ difference
        total += float(np.vdot(difference, difference))
        steps += float(np.vdot(step, step))
    values = np.linalg.svd(inner, compute_uv=False).astype(np.float64)
    return _smallest_rank(values, total, steps, min(rows, columns))


def _smallest_rank(values: Array, total: float, steps: float, full: int) -> Rank:
    left = np.maximum(total - np.concatenate([[0.0], np.cumsum(values**2)]), 0.0)
    allowed = max(steps * ROUNDING, total * PRECISION)
    fitting = np.flatnonzero(left <= allowed)
    found = int(fitting[0]) if len(fitting) and (fitting[0] <= MOST_RANK) else None
    if found is None and full <= MOST_RANK:
        found = full
    at = found if found is not None else len(values)
    return Rank(found, full, tuple(map(float, values[:16])), sqrt(left[at] / total) if total else 0.0)


def _product_with(comparison: Comparison, pair: Pair, directions: Array) -> Array:
    return np.concatenate([difference @ directions for _, difference, _ in _differences(comparison, pair)])


def _orthogonal_base(columns: Array) -> Array:
    found: Array = np.linalg.qr(columns)[0]
    return found


def _differences(comparison: Comparison, pair: Pair) -> Iterator[tuple[int, Array, Array]]:
    """Rows of b − a with the number of the first, and the step of b's dtype at each number."""
    for start, a, b, step in comparison.rows(pair, ROWS):
        yield start, np.nan_to_num(b - a), np.nan_to_num(step)


class Merge(NamedTuple):
    """b as a weighted sum of two parents, by least squares over sampled elements."""

    first: float  # the weight of the first parent
    second: float
    residual: float  # ‖b − sum‖ / ‖b‖
    spread: tuple[tuple[float, float], tuple[float, float]]  # the weights of single tensors: least and largest
    tensors: int  # sampled
    elements: int
    rounding: float = 0.0  # the share of b's norm that rounding to its dtype, or packing it, may leave

    @property
    def is_merge(self) -> bool:
        """Whether the sum is b up to rounding, and involves both parents."""
        return self.residual <= max(MERGED, self.rounding) and min(abs(self.first), abs(self.second)) > MERGED


def merge(first: Comparison, second: Comparison) -> Merge | None:
    """Whether b is a weighted sum of the two that it is compared with; None if no tensor of it is in both.

    Args:
        first, second: each parent compared with the same b.
    """
    others = {pair.b.tensors[0].tensor.name: pair for pair in second.result.pairs if pair.b}
    normal, right, square, elements, steps = np.zeros((2, 2)), np.zeros(2), 0.0, 0, 0.0
    weights: list[tuple[float, float]] = []
    for pair in first.result.pairs:
        other = others.get(pair.b.tensors[0].tensor.name) if pair.b else None
        samples = list(_samples_of(first, second, pair, other)) if other else []
        if not samples:
            continue
        x, y, z, step = (np.concatenate(column).astype(np.float64) for column in zip(*samples, strict=True))
        steps += float(step @ step)
        own, side = np.array([[x @ x, x @ y], [x @ y, y @ y]]), np.array([x @ z, y @ z])
        normal, right, square, elements = normal + own, right + side, square + float(z @ z), elements + z.size
        if np.linalg.norm(x - y) > MERGED * np.linalg.norm(x):
            weights.append(tuple(np.linalg.lstsq(own, side, rcond=None)[0].tolist()))
    if not elements or not square:
        return None
    found = np.linalg.lstsq(normal, right, rcond=None)[0]
    left = max(square - 2 * float(found @ right) + float(found @ normal @ found), 0.0)
    columns = list(zip(*weights, strict=True)) or [(found[0],), (found[1],)]
    spread = tuple((float(min(column)), float(max(column))) for column in columns)
    return Merge(
        float(found[0]), float(found[1]), sqrt(left / square), (spread[0], spread[1]), len(weights), elements,
        sqrt(steps * ROUNDING / square),
    )  # fmt: skip


def _samples_of(first: Comparison, second: Comparison, pair: Pair, other: Pair) -> Iterator[tuple[Array, ...]]:
    """The same elements of both parents and of b, in a few places, and the steps of b's dtype."""
    total = first.plain(pair)
    if total is None or second.plain(other) != total:
        return
    length = min(SAMPLE // PLACES, total)
    for start in sorted({(total - length) * place // max(PLACES - 1, 1) for place in range(PLACES)}):
        x, z = first.values(pair, start, start + length)
        y, _ = second.values(other, start, start + length)
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
        yield x[finite], y[finite], z[finite], first.steps(pair, start, start + length)[finite]
