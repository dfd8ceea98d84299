"""Whether values are the same ones in another order, or times a factor for each row and column.

    order_of_columns(comparison, pair)   the order of a's hidden dimensions in b
    moved(comparison, pairs, order)      how alike rows or columns are to those of a, wherever they are
    turned(comparison, pair, pairs)      how alike the angles between the rows of two embeddings are
    scaled(comparison, pair)             the factors of rows and columns, and what they leave of the difference

Heads, neurons and the hidden dimensions of a network can be put in another order, and what one matrix is multiplied by
the next can be divided by (SmoothQuant, Xiao et al., 2022; AWQ, Lin et al., 2023), or rotated (QuaRot, Ashkboos et al.,
2024): the model computes the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inspector.comparing.data import Comparison
from inspector.comparing.pairing import Pair
from inspector.formats.decoding import Array

#: Rows and columns that are looked for, and elements of each by which they are found.
SOUGHT, BY = 48, 256
#: Elements that are read at once.
CHUNK = 1 << 19
#: Rows or columns among which one is looked for, at most.
AMONG = 1 << 16
#: The least cosine of a row with the one that it was; how many times that of random ones it is at least.
FOUND, CHANCE = 0.5, 1.5
#: Rows and columns to which factors are fitted, and how often.
SIDE, REFINED = 256, 12
#: The least factor, relative to the largest.
TINY = 1e-4


class Moved(NamedTuple):
    """The rows or columns of one matrix, found in the other."""

    pair: Pair
    cosine: float  # the least of nine in ten
    elsewhere: bool  # whether they are in another order there


@np.errstate(all="ignore")
def moved(comparison: Comparison, pairs: Sequence[Pair], order: Array | None) -> list[Moved]:
    """Those of some matrices that have the rows or columns of a.

    Args:
        order: for each hidden dimension of b the one of a that it is; None if they are the same.
    """
    found = []
    for pair in pairs:
        shape = comparison.matrix(pair)
        tried = () if shape is None else ((order, None) if order is not None else (None,))
        fits = [_best(comparison, pair, shape, each) for each in tried if shape]
        best = max(fits, key=lambda each: (round(each[0], 3), not each[1]), default=(0.0, False))
        if best[0]:
            found.append(Moved(pair, *best))
    return found


def _best(comparison: Comparison, pair: Pair, shape: tuple[int, int], order: Array | None) -> tuple[float, bool]:
    """How alike rows, or columns, are to the most similar ones of a, if their elements are in the order given; or 0."""
    rows, columns = shape
    if order is not None and len(order) not in shape:
        return 0.0, False
    at = [_some(size, BY) for size in shape]
    of_a = [each if order is None or len(order) != size else order[each] for each, size in zip(at, shape, strict=True)]
    tall: tuple[list[Array], list[Array]] = ([], [])
    wide = [np.zeros((len(at[0]), columns), np.float32) for _ in "ab"]
    for first, a, b, _ in comparison.rows(pair, CHUNK):
        tall[0].append(a[:, of_a[1]])
        tall[1].append(b[:, at[1]])
        for side, held, places in ((a, wide[0], of_a[0]), (b, wide[1], at[0])):
            here = np.flatnonzero((places >= first) & (places < first + len(side)))
            held[here] = side[places[here] - first]
    a, b = (np.concatenate(each) for each in tall)
    found = [_alike(a, b)] if rows <= AMONG and (order is None or len(order) == columns) else []
    found += [_alike(wide[0].T, wide[1].T)] if columns <= AMONG and (order is None or len(order) == rows) else []
    return max(found, default=(0.0, False))


def _alike(a: Array, b: Array) -> tuple[float, bool]:
    """The least cosine, of nine in ten of some rows of b, with the row of a that is most like it; 0 if by chance.

    And whether most of them are elsewhere.
    """
    chosen = _some(len(b), SOUGHT)
    alike = np.abs(_unit(b[chosen]) @ _unit(a).T)
    cosine = float(np.quantile(alike.max(axis=1), 0.1))
    chance = np.sqrt(2 * np.log(max(len(a), 2)) / a.shape[1])  # the largest of as many random ones
    elsewhere = float(np.mean(alike.argmax(axis=1) != chosen))
    return (cosine, elsewhere > 0.1) if cosine >= max(FOUND, CHANCE * chance) else (0.0, False)


def _unit(rows: Array) -> Array:
    """Rows without their mean, of length one."""
    rows = np.nan_to_num(rows)
    rows = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Array = rows / np.where(length, length, 1)
    return found


def _some(size: int, most: int) -> Array:
    found: Array = np.unique(np.linspace(0, size - 1, min(size, most)).astype(int))
    return found


@np.errstate(all="ignore")
def order_of_columns(comparison: Comparison, pair: Pair) -> Array | None:
    """For each column of b, the column of a that it is; None if they are not those of a."""
    sides = _middle_rows(comparison, pair)
    if sides is None or sides[0].shape[1] > AMONG:
        return None
    a, b = (_unit(side.T) for side in sides)
    alike = np.abs(b @ a.T)
    order: Array = alike.argmax(axis=1)
    fits = float(np.median(alike.max(axis=1))) >= FOUND and len(np.unique(order)) > len(order) * 0.9
    return order if fits and (order != np.arange(len(order))).any() else None


def _middle_rows(comparison: Comparison, pair: Pair) -> tuple[Array, Array] | None:
    shape = comparison.matrix(pair)
    if shape is None:
        return None
    count = min(shape[0], 2 * BY)
    start = (shape[0] - count) // 2 * shape[1]
    a, b = comparison.values(pair, start, start + count * shape[1])
    return np.nan_to_num(a.reshape(count, -1)), np.nan_to_num(b.reshape(count, -1))


@np.errstate(all="ignore")
def turned(comparison: Comparison, embedding: Pair, pairs: Sequence[Pair]) -> float:
    """The cosine of the products of an embedding's rows, which no rotation changes, on both sides.

    0 unless products with the rows of another matrix are alike, too: each may have been rotated by itself.
    """
    own = _middle_rows(comparison, embedding)
    others = [_middle_rows(comparison, each) for each in pairs if each is not embedding]
    if own is None:
        return 0.0
    alike = max(
        (_cosine(*(x @ y.T for x, y in zip(own, each, strict=True)))
         for each in others if each is not None and each[0].shape[1] == own[0].shape[1]),
        default=0.0,
    )  # fmt: skip
    return products(comparison, embedding) if alike >= FOUND else 0.0


@np.errstate(all="ignore")
def products(comparison: Comparison, embedding: Pair) -> float:
    """The cosine of the products of an embedding's rows with each other, on both sides; 0 if they are few."""
    sides = _middle_rows(comparison, embedding)
    if sides is None or min(sides[0].shape) < 16:
        return 0.0
    return _cosine(*map(_angles, sides))


def _angles(rows: Array) -> Array:
    """The cosines of rows with each other; 0 with themselves, and for rows of zeros."""
    cosines: Array = _unit(rows) @ _unit(rows).T
    np.fill_diagonal(cosines, 0)
    return cosines


def _cosine(a: Array, b: Array) -> float:
    a, b = (each - each.mean() for each in (a, b))
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.vdot(a, b)) / size if size else 0.0


class Scaled(NamedTuple):
    """A matrix with factors for its rows and columns, and what is left of the difference."""

    rows: Array
    columns: Array
    left: float  # the sum of squares that the factors leave
    change: float  # the sum of squares of the difference
    nearest: float  # what rounding to nearest would leave

    @property
    def uneven(self) -> bool:
        """Whether there are other factors than one, and none of zero."""
        least = min(
            float(np.min(np.abs(each)) / max(np.max(np.abs(each)), 1e-30)) for each in (self.rows, self.columns)
        )
        return self.left < self.change / 4 and least > TINY


@np.errstate(all="ignore")
def scaled(comparison: Comparison, pair: Pair) -> Scaled | None:
    """Fit factors to some rows and columns; None for pairs that are no matrices in one order."""
    shape = comparison.matrix(pair)
    if shape is None:
        return None
    rows, chosen = min(shape[0], SIDE), _some(shape[1], SIDE)
    stop = rows * shape[1]
    a, b = (
        np.nan_to_num(side.reshape(rows, -1)[:, chosen]).astype(np.float64) for side in comparison.values(pair, 0, stop)
    )
    steps = comparison.steps(pair, 0, stop).reshape(rows, -1)[:, chosen].astype(np.float64)
    product = a * b
    u, v = _first_factors(a, b, product)
    for _ in range(REFINED):
        u = _fitted(product @ v, (a**2) @ v**2)
        v = _fitted(u @ product, u**2 @ (a**2))
    left = float(np.sum((b - u[:, None] * a * v) ** 2))
    rounding = float(np.sum(steps**2)) / 12 + float(np.sum((np.abs(b) * 2.0**-22) ** 2))
    return Scaled(u, v, left, float(np.sum((b - a) ** 2)), rounding)


def _first_factors(a: Array, b: Array, product: Array) -> tuple[Array, Array]:
    """The middle ratio of each row, then of each column; signs from the largest singular vectors."""
    ratios = np.nan_to_num(np.abs(b / a), posinf=0.0)
    u = np.median(ratios, axis=1)
    v = np.median(np.nan_to_num(ratios / u[:, None], posinf=0.0), axis=0)
    up, _, down = np.linalg.svd(np.sign(product), full_matrices=False)
    return u * np.sign(up[:, 0]), v * np.sign(down[0])


def _fitted(product: Array, square: Array) -> Array:
    return np.divide(product, square, out=np.zeros_like(product), where=square > 0)
