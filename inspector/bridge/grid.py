"""Layers × roles, for heat maps.

grid(result.tensors, result.roles) → Grid, a Cell for each layer and role that have tensors together
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from inspector.bridge.hierarchy import role_of
from inspector.model import Key, Labelled, RoleSum

#: Row of tensors outside the stack of layers.
OUTSIDE = "outside the layers"
Place = tuple[str, str]  # row, column


class Cell(NamedTuple):
    """The tensors of one role in one layer, including packed weights' side data."""

    tensors: int
    parameters: int  # logical
    bytes: int
    dtypes: tuple[str, ...]  # by bytes, descending

    @property
    def bits(self) -> float | None:
        """Stored bits per parameter; None if there are no parameters."""
        return self.bytes * 8 / self.parameters if self.parameters else None


class Axes(NamedTuple):
    """Rows are layers, in order; columns are roles, in the model's order, then others in order of appearance."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]


class Grid(NamedTuple):
    """The cells by row and column."""

    axes: Axes
    cells: Mapping[Place, Cell]


def grid(tensors: Iterable[Labelled], roles: Iterable[RoleSum]) -> Grid:
    """The tensors by layer and role.

    Args:
        roles: a result's, whose order is the model's; files are often in alphabetical order.
    """
    members: dict[Place, list[Labelled]] = {}
    keys: dict[Place, Key] = {}
    for each in tensors:
        place = place_of(each.key)
        members.setdefault(place, []).append(each)
        keys.setdefault(place, each.key)
    return Grid(axes(keys.values(), roles), {place: _cell(own) for place, own in members.items()})


def place_of(key: Key) -> Place:
    """Row and column of a tensor: `("vision 3", "vision q_proj")`."""
    tower = "" if key.tower == "text" else f"{key.tower} "
    return (OUTSIDE if key.layer is None else f"{tower}{key.layer}", role_of(key))


def axes(keys: Iterable[Key], roles: Iterable[RoleSum]) -> Axes:
    """Rows, those outside the layers first, then tower by tower; and columns, in the order of the roles."""
    order = dict.fromkeys(map(role_of, roles))
    towers: dict[str, int] = {}
    rows: dict[str, tuple[int, int]] = {}
    columns: dict[str, None] = {}
    for key in keys:
        row, column = place_of(key)
        tower = towers.setdefault(key.tower, len(towers))
        rows.setdefault(row, (-1, 0) if key.layer is None else (tower, key.layer))
        columns.setdefault(column)
    known = (column for column in order if column in columns)
    return Axes(tuple(sorted(rows, key=rows.__getitem__)), tuple(dict.fromkeys((*known, *columns))))


def _cell(members: Iterable[Labelled]) -> Cell:
    tensors, parameters, dtypes = 0, 0, Counter[str]()
    for each in members:
        tensors += 1
        parameters += each.parameters
        dtypes[each.tensor.dtype] += each.tensor.nbytes
    return Cell(tensors, parameters, dtypes.total(), tuple(dtype for dtype, _ in dtypes.most_common()))
