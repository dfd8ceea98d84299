"""The values of both sides of a pair, compared piece by piece under the option that fits best, tile by tile."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from inspector.comparing import differences, formulas
from inspector.comparing.agreement import Sums, added
from inspector.comparing.layouts import Made, Option, Piece
from inspector.comparing.sides import Sides
from inspector.comparing.stored_side import ComputedRows, Room, StoredSide
from inspector.comparing.strided import TILE, Loop, Tile, View, gathered, loops, tile_at, tile_count, tiles
from inspector.formats.decoding import Array
from inspector.quantization.levels import TRIED, explained_blocks
from inspector.quantization.precision import group_of

#: Raw bytes that are compared at once.
RAW = 1 << 19
#: Elements of each sampled position, for finding out what a converter did.
SAMPLE = 1 << 12
#: How fine floats are: that of the original must be the finer one. What is not listed is packed.
FINENESS: Mapping[str, int] = {"F64": 4, "F32": 3, "F16": 2, "BF16": 2}


class Compared(NamedTuple):
    """The comparison of one piece, under the option that fits best."""

    option: Option
    sums: Sums
    piece: Piece


class _TileOfSide(NamedTuple):
    """The elements of one side in a tile."""

    side: StoredSide
    view: View
    start: int  # where the tile begins in the view
    sizes: tuple[int, ...]
    strides: list[int]

    def gathered(self, read: Callable[[int, int], Array], view: View | None = None) -> Array:
        """What a function returns for ranges of elements, gathered for the tile, or for that of another view."""
        return gathered(read, (view or self.view).offset + self.start, self.sizes, self.strides)

    def values(self, view: View | None = None) -> Array:
        return self.gathered(self.side.values((view or self.view).store), view)

    def integers(self) -> Callable[[int, int], Array] | None:
        return self.side.integers(self.view.store)

    def steps(self) -> Array | None:
        read = self.side.steps(self.view.store)
        return self.gathered(read) if read else None


class PairValues(NamedTuple):
    """The values of both sides of a pair."""

    a: StoredSide
    b: StoredSide
    sides: Sides

    def compared(self, piece: Piece) -> Compared:
        plain = piece.options[0]
        if plain.made is not None:
            return Compared(plain, self._against_computed(plain, plain.made), piece)
        if not plain.name and self._have_same_bytes(plain):
            return Compared(plain, Sums(elements=plain.a.elements), piece)
        option = self.best(piece.options)
        nest = loops(option.a, option.b)
        return Compared(option, added(self._compare_tile(option, nest, tile) for tile in tiles(nest)), piece)

    def best(self, options: Sequence[Option]) -> Option:
        """What was done to the model's values, judging by a few samples: the option under which most elements fit."""
        if len(options) == 1:
            return options[0]
        options = [self.with_means(option) for option in options]
        ranked = []
        for option in options:
            nest = loops(option.a, option.b)
            count = tile_count(nest, SAMPLE)
            places = sorted({0, count // 3, count * 2 // 3, count - 1})
            sums = added(self._compare_tile(option, nest, tile_at(nest, place, SAMPLE)) for place in places)
            ranked.append((sums.beyond / max(sums.elements, 1), sums.difference))
        return options[min(range(len(options)), key=ranked.__getitem__)]

    def with_means(self, option: Option) -> Option:
        """An option with the means over the model's whole tensor that its formula needs."""
        asked = formulas.words(option.value) & formulas.MEANS.keys()
        if not asked:
            return option
        nest, totals = loops(option.a, option.b), dict.fromkeys(asked, 0.0)
        for tile in tiles(nest):
            model, _ = self.sides.model_and_file(*self._tiles_of_sides(option, nest, tile))
            x = model.values()
            for name in asked:
                totals[name] += float(formulas.MEANS[name](x).sum(dtype=np.float64))
        view, _ = self.sides.model_and_file(option.a, option.b)
        means = {name: total / max(view.elements, 1) for name, total in totals.items()}
        return option._replace(numbers={**option.numbers, **means})

    def _have_same_bytes(self, option: Option) -> bool:
        """Whether both have the same bytes, given the same dtype and order."""
        (a, b), nest = (option.a, option.b), loops(option.a, option.b)
        dtype = self.a.dtype(a.store)
        if dtype is None or dtype != self.b.dtype(b.store) or len(nest) > 1:
            return False
        if nest and (nest[0].a, nest[0].b) != (1, 1):
            return False
        whole = group_of(dtype)
        if (a.offset % whole, b.offset % whole) != (0, 0):
            return False
        step = RAW // max(whole, 2) * whole or whole
        ranges = ((start, min(start + step, a.elements)) for start in range(0, a.elements, step))
        return all(
            self.a.raw(a.store, a.offset + start, a.offset + stop)
            == self.b.raw(b.store, b.offset + start, b.offset + stop)
            for start, stop in ranges
        )

    def _against_computed(self, option: Option, made: Made) -> Sums:
        """A file's elements compared with those that its converter computed from the model's."""
        (model, _), (file, view) = self.sides.model_and_file((self.a, option.a), (self.b, option.b))
        rows, total = ComputedRows(model, made), Sums()
        step, read = max(1, TILE // made.columns) * made.columns, file.steps(view.store)
        for start in range(0, view.elements, step):
            stop = min(start + step, view.elements)
            at = view.offset + start, view.offset + stop
            x, y = self.sides.model_and_file(rows.values(start, stop), file.values(view.store)(*at))
            steps = functools.partial(_steps_at, read, at)
            total += differences.sums(x, y, steps, slack=rows.magnitude(start, stop))
        return total

    def _tiles_of_sides(self, option: Option, nest: Sequence[Loop], tile: Tile) -> tuple[_TileOfSide, _TileOfSide]:
        """Both sides' parts of a tile."""
        return (
            _TileOfSide(self.a, option.a, tile.a, tile.sizes, [loop.a for loop in nest]),
            _TileOfSide(self.b, option.b, tile.b, tile.sizes, [loop.b for loop in nest]),
        )

    def _compare_tile(self, option: Option, nest: Sequence[Loop], tile: Tile) -> Sums:
        model, file = self.sides.model_and_file(*self._tiles_of_sides(option, nest, tile))
        held = made = model.values()
        slack = formulas.slack(option.value, option.numbers)
        if option.value:
            named: dict[str, float | Array] = {name: model.values(view) for name, view in option.beside.items()}
            if formulas.INDEX in formulas.words(option.value):
                named[formulas.INDEX] = model.gathered(np.arange)
            made = formulas.applied(option.value, held, (named | dict(option.numbers)).get)
            if option.beside and slack is not None:  # adding and subtracting again disturbs the last bits
                slack = float(np.nanmax(np.abs(held), initial=0))

        def steps() -> list[Array]:
            if self.a.side.dtype == self.b.side.dtype and not option.value:
                return []
            a, b = self.sides.model_and_file(model, file)
            return [found for found in (a.steps(), b.steps()) if found is not None]

        x, y = self.sides.model_and_file(made, file.values())
        if np.iscomplexobj(x) or np.iscomplexobj(y):  # compared part by part
            x, y = (each.astype(np.complex128).view(np.float64) for each in (x, y))
            return differences.sums(x, y, list)
        if not option.value:
            of_each = self.sides.model_and_file(model, file)
            x, y = apart(x, y, [each.gathered(read) for each in of_each if (read := each.integers())])
        strays = None if option.value else self._strays(option, nest, tile)
        return differences.sums(x, y, steps, slack=slack, strays=strays)

    def located(self, piece: Piece) -> Iterator[tuple[str, int]]:
        """The coarser side's elements that are not at the level nearest to the other's: a tensor's name, a number."""
        option = self.best(piece.options)
        nest = loops(option.a, option.b)
        for tile in tiles(nest):
            found = self._levels(option, nest, tile)
            if found is None:
                return
            numbers = found.file.gathered(np.arange).reshape(-1)
            gap = found.model.values().reshape(-1) - found.file.values().reshape(-1)
            name = found.file.side.side.tensors[found.file.view.store].tensor.name
            yield from ((name, int(number)) for number in numbers[found.far(gap)])

    def _strays(self, option: Option, nest: Sequence[Loop], tile: Tile) -> differences.Strays | None:
        """Counts elements of the coarser side that are not at the level nearest to the other's."""
        levels = self._levels(option, nest, tile)
        if levels is None or option.value:
            return None

        def strays(gap: Array) -> tuple[int, int]:
            far = levels.far(gap if levels.is_b else -gap)
            count = int(np.count_nonzero(far))
            return (
                (count, int(np.count_nonzero(np.add.reduceat(far, np.arange(0, far.size, 256))))) if count else (0, 0)
            )

        return strays

    def _levels(self, option: Option, nest: Sequence[Loop], tile: Tile) -> _Levels | None:
        """The side that is coarser, if its format has levels; None if neither is."""
        sides = (self.a, option.a.store), (self.b, option.b.store)
        finest = [FINENESS.get(side.float_of(at), 0) for side, at in sides]
        coarse = 1 if finest[0] > finest[1] else 0
        found = sides[coarse][0].room(sides[coarse][1])
        if finest[0] == finest[1] or found is None:
            return None
        own = self._tiles_of_sides(option, nest, tile)
        return _Levels(found, own[coarse], own[1 - coarse], is_b=coarse == 1)


class _Levels(NamedTuple):
    """The coarser side of a tile, with the room that its format leaves."""

    room: Room
    file: _TileOfSide
    model: _TileOfSide
    is_b: bool

    def far(self, away: Array) -> Array:
        """Which elements are not at their level, by the originals minus what is stored."""
        far = self._far_from_uniform(away) if self.room.is_uniform else None
        if far is None:
            below, above = (self.file.gathered(read).reshape(-1) for read in (self.room.below, self.room.above))
            far = (away > above) | (-away > below)
        if self.room.dtype in TRIED and far.any() and far.size % 32 == 0:
            scale, offset = (self.file.gathered(read).reshape(-1)[::32] for read in (self.room.scale, self.room.offset))
            values, originals = self.file.values().reshape(-1), self.model.values().reshape(-1)
            far &= ~np.repeat(explained_blocks(values, originals, scale, offset, far, self.room.dtype), 32)
        return far

    def _far_from_uniform(self, away: Array) -> Array | None:
        """The same for equal gaps: only what is further than half of one is looked at again."""
        far: Array = np.abs(away) > self.file.gathered(self.room.half).reshape(-1)
        at = np.flatnonzero(far)
        if not at.size:
            return far
        numbers = self.file.gathered(np.arange).reshape(-1)[at]
        limits = self.room.limits(numbers, self.file.values().reshape(-1)[at])
        if limits is None:
            return None
        below, above = limits
        far[at] = (away[at] > above) | (-away[at] > below)
        return far


def apart(a: Array, b: Array, exact: Sequence[Array]) -> tuple[Array, Array]:
    """The numbers of both sides; integers that differ but have the same float become neighbouring floats."""
    if len(exact) == 2 and exact[0].dtype == exact[1].dtype:
        b = np.where((exact[0] != exact[1]) & (a == b), np.nextafter(b, np.inf), b)
    return a, b


def _steps_at(read: Callable[[int, int], Array] | None, at: tuple[int, int]) -> list[Array]:
    return [read(*at)] if read else []
