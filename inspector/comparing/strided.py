"""Views of a stored tensor's elements in another order, without a copy: transposed, split or interleaved.

    view = whole((12, 64))                         12 rows of 64, as stored
    view.split(0, (4, 3)).take(0, 1, 2)            …

An axis is a number of digits, the most significant first, each with a size and a stride in elements of the store, so
that rows may lie in groups. Two views of equal sizes are traversed together in tiles that are read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
#: The elements of a store from the first to before the second, in order.
Read = Callable[[int, int], Array]

#: Elements of a tile, and of a run that is worth a separate read.
TILE, RUN = 1 << 16, 1 << 9
#: A tile is read with the gaps between its elements if that is at most this many times as much.
LOOSE = 4


class Digit(NamedTuple):
    size: int
    stride: int  # in elements of the store


Axis = tuple[Digit, ...]


def size_of(axis: Axis) -> int:
    return prod(digit.size for digit in axis)


class View(NamedTuple):
    """Some elements of one store, as a multi-axis array."""

    store: int  # an index known to the reader
    offset: int  # elements before the first
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(size_of, self.axes))

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def digits(self, axis: int, sizes: Sequence[int]) -> View:
        """One axis in digits of these sizes. Raises ValueError if it does not divide evenly."""
        return self._with(axis, refined(self.axes[axis], tuple(sizes)))

    def ordered(self, axis: int, order: Sequence[int]) -> View:
        """One axis with its digits in another order."""
        return self._with(axis, tuple(self.axes[axis][at] for at in order))

    def taken(self, axis: int, digit: int, start: int, stop: int) -> View:
        """The elements whose digit is in a range."""
        digits = list(self.axes[axis])
        size, stride = digits[digit]
        if not 0 <= start < stop <= size:
            raise ValueError(f"{start} to {stop} of {size}")
        digits[digit] = Digit(stop - start, stride)
        return self._with(axis, tuple(digits))._replace(offset=self.offset + start * stride)

    def transposed(self, order: Sequence[int]) -> View:
        return self._replace(axes=tuple(self.axes[at] for at in order))

    def flat(self) -> View:
        """All axes as one."""
        return self._replace(axes=(tuple(digit for axis in self.axes for digit in axis),))

    def _with(self, axis: int, digits: Axis) -> View:
        return self._replace(axes=(*self.axes[:axis], digits, *self.axes[axis + 1 :]))


def whole(shape: Sequence[int], store: int = 0) -> View:
    """A tensor as it is stored: row-major."""
    axes: list[Axis] = []
    stride = 1
    for size in reversed(shape):
        axes.append((Digit(size, stride),))
        stride *= size
    return View(store, 0, tuple(reversed(axes)))


def refined(axis: Axis, sizes: Sequence[int]) -> Axis:
    """The digits of an axis, refined to end wherever those of the given sizes do. Raises ValueError if impossible.

    >>> refined((Digit(12, 64),), (4, 3))
    (Digit(size=4, stride=192), Digit(size=3, stride=64))
    """
    left, right = list(axis), list(sizes)
    if size_of(axis) != prod(sizes):
        raise ValueError(f"{size_of(axis)} is not {prod(sizes)}")
    found: list[Digit] = []
    while left and right:
        (size, stride), wanted = left.pop(), right.pop()
        if size % wanted == 0:
            found.append(Digit(wanted, stride))
            if size > wanted:
                left.append(Digit(size // wanted, stride * wanted))
        elif wanted % size == 0:
            found.append(Digit(size, stride))
            right.append(wanted // size)
        else:
            raise ValueError(f"{size} and {wanted}")
    found += [digit for digit in reversed(left) if digit.size == 1][:1] if not found else []
    return tuple(reversed(found)) or (Digit(1, 1),)


class Loop(NamedTuple):
    """A dimension of two views that are traversed together."""

    size: int
    a: int  # strides
    b: int


def loops(a: View, b: View) -> tuple[Loop, ...]:
    """Two views as one nest of loops, as few as possible. Raises ValueError if their sizes disagree."""
    if a.shape != b.shape:
        raise ValueError(f"{a.shape} and {b.shape}")
    found: list[Loop] = []
    for own, other in zip(a.axes, b.axes, strict=True):
        left = refined(own, [digit.size for digit in other])
        right = refined(other, [digit.size for digit in left])
        for one, two in zip(left, right, strict=True):
            if one.size == 1:
                continue
            last = found[-1] if found else None
            if last and (last.a, last.b) == (one.stride * one.size, two.stride * one.size):
                found[-1] = Loop(last.size * one.size, one.stride, two.stride)
            else:
                found.append(Loop(one.size, one.stride, two.stride))
    return tuple(found)


class Tile(NamedTuple):
    """A piece of both views: its start in each store, and its number of steps of each loop."""

    a: int
    b: int
    sizes: tuple[int, ...]


def tiles(nest: Sequence[Loop], budget: int = TILE) -> Iterator[Tile]:
    """The pieces of a nest of loops. Each is contiguous where either store is: no tiny reads."""
    sizes = _tile_sizes(nest, budget)
    ranges = [range(0, loop.size, size) for loop, size in zip(nest, sizes, strict=True)]
    for starts in product(*ranges):
        yield _tile_from(nest, sizes, starts)


def tile_count(nest: Sequence[Loop], budget: int) -> int:
    """The number of pieces that `tiles` yields."""
    return prod(-(-loop.size // size) for loop, size in zip(nest, _tile_sizes(nest, budget), strict=True))


def tile_at(nest: Sequence[Loop], number: int, budget: int) -> Tile:
    """One of the pieces."""
    sizes, starts = _tile_sizes(nest, budget), []
    for loop, size in zip(reversed(nest), reversed(sizes), strict=True):
        number, at = divmod(number, -(-loop.size // size))
        starts.append(at * size)
    return _tile_from(nest, sizes, starts[::-1])


def _tile_from(nest: Sequence[Loop], sizes: Sequence[int], starts: Sequence[int]) -> Tile:
    return Tile(
        sum(start * loop.a for start, loop in zip(starts, nest, strict=True)),
        sum(start * loop.b for start, loop in zip(starts, nest, strict=True)),
        tuple(min(size, loop.size - start) for start, size, loop in zip(starts, sizes, nest, strict=True)),
    )


def _tile_sizes(nest: Sequence[Loop], budget: int) -> list[int]:
    """Steps of each loop: first those along which either store is contiguous, up to a run, then all that fit."""
    sizes = [1] * len(nest)
    by_a = sorted(range(len(nest)), key=lambda at: nest[at].a)
    by_b = sorted(range(len(nest)), key=lambda at: nest[at].b)
    alternating = [at for both in zip(by_a, by_b, strict=True) for at in both]
    for most in (RUN, budget):
        for at in alternating:
            room = budget // max(1, prod(sizes) // sizes[at])
            sizes[at] = max(sizes[at], min(nest[at].size, most, room))
    return sizes


def gathered(read: Read, start: int, sizes: Sequence[int], strides: Sequence[int]) -> Array:
    """The elements of a tile, as an array of the tile's sizes."""
    reach = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if reach <= max(LOOSE * prod(sizes), RUN):
        held = read(start, start + reach)
        steps = [stride * held.itemsize for stride in strides]
        return np.lib.stride_tricks.as_strided(held, tuple(sizes), steps, writeable=False)
    order = sorted(range(len(sizes)), key=lambda at: -strides[at])
    first = order[0]  # the longest dimension: one at a time
    pieces = [
        gathered(read, start + step * strides[first], _without(sizes, first), _without(strides, first))
        for step in range(sizes[first])
    ]
    return np.stack(pieces, axis=first)


def _without(items: Sequence[int], at: int) -> list[int]:
    return [*items[:at], *items[at + 1 :]]
