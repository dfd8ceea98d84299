"""Compares the values of two checkpoints' pairs, piece by piece as they are read.

    with closing(Comparison(result)) as comparison:        # result: what `diff` returned
        for pair, data in zip(result.pairs, comparison.run(workers=4).data):
            data.status, data.transform, data.sums.relative

Equal bytes are recognised without decoding. Everything else is decoded to float32 in pieces of some 500,000 elements,
so that memory does not grow with the tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from threading import local
from typing import NamedTuple

import numpy as np

from inspector.comparing import differences, formulas
from inspector.comparing.agreement import AGREEMENTS, Data, Sums, added
from inspector.comparing.diff import Diff
from inspector.comparing.differences import agreement
from inspector.comparing.layouts import Made, Option, Piece, pieces
from inspector.comparing.pairing import Pair, Side
from inspector.comparing.sides import Known, Sides, is_turned
from inspector.comparing.strided import TILE, Loop, Tile, View, gathered, loops, tile_at, tile_count, tiles
from inspector.errors import FormatError
from inspector.formats.decoding import COMPLEX, Array
from inspector.formats.ggml import TYPES
from inspector.measuring.stored import LONG, check_unchanged, stamps
from inspector.measuring.weights import Weights
from inspector.model import Key, Packing
from inspector.quantization.levels import (
    BLOCKS,
    TRIED,
    UNIFORM,
    Levels,
    explained_blocks,
    half,
    levels_of_blocks,
    levels_of_float,
    room,
)  # fmt: skip
from inspector.quantization.precision import FLOATS, group_of, spacing, step_of
from inspector.sources import workers as threads

#: Raw bytes that are compared at once.
RAW = 1 << 19
#: Elements of each sampled position, for finding out what a converter did.
SAMPLE = 1 << 12


class Comparison:
    """The tensor data of both sides of a diff."""

    def __init__(self, result: Diff) -> None:
        self.result = result
        self._sides = Sides(Known(result.a), Known(result.b))
        self._open: list[Weights] = []
        self._threads = local()
        self._before = [stamps(side.checkpoint) for side in (result.a, result.b)]

    def close(self) -> None:
        """Close the files."""
        for reader in self._open:
            reader.close()

    def run(self, workers: int = 1, done: Callable[[int], object] = lambda _: None) -> Diff:
        """The diff with a comparison of each pair's values.

        Args:
            done: called with the bytes of both sides after each pair.

        Raises:
            SourceError: a file ends early, cannot be read, or changed in the meantime.
        """
        found = threads.each(lambda pair: self._pair(pair, done), self.result.pairs, workers)
        for side, before in zip((self.result.a, self.result.b), self._before, strict=True):
            check_unchanged(side.checkpoint, before)
        return replace(self.result, data=tuple(found))

    @property
    def total(self) -> int:
        """Bytes that `run` reads, as far as the headers show."""
        sides = (side for pair in self.result.pairs if pair.a and pair.b for side in (pair.a, pair.b))
        return sum(side.nbytes for side in sides)

    def _pair(self, pair: Pair, done: Callable[[int], object]) -> Data | None:
        if pair.a is None or pair.b is None:
            return None
        try:
            return self.compared(pair)
        except FormatError as error:
            return Data(None, why=str(error))
        finally:
            done(pair.a.nbytes + pair.b.nbytes)

    def compared(self, pair: Pair) -> Data:
        """Compare the values of one pair. Raises SourceError, FormatError."""
        try:
            matched = pieces(pair, self._sides)
        except ValueError as error:
            return Data(None, why=f"different shapes: {error}")
        values = _Values(*self._readers(pair), self._sides)
        found = [values.compared(piece) for piece in matched]
        return _data_of_pieces(pair, found, lossy=_is_lossy(pair), sides=self._sides)

    def strays(self, pair: Pair) -> list[tuple[str, int]]:
        """Elements that are not at the level nearest to their original, by tensor's name and number."""
        values = _Values(*self._readers(pair), self._sides)
        return [each for piece in pieces(pair, self._sides) for each in values.located(piece)]

    def plain(self, pair: Pair) -> int | None:
        """The number of elements, for a pair whose tensors have the same elements in order; None for other pairs.

        None for complex numbers, too.
        """
        if pair.a is None or pair.b is None or len(pair.a.tensors) != 1 or len(pair.b.tensors) != 1:
            return None
        if {pair.a.dtype, pair.b.dtype} & COMPLEX:
            return None
        try:
            matched = pieces(pair, self._sides)
        except ValueError:
            return None
        options = matched[0].options if len(matched) == 1 else ()
        if not options or options[0].name or any(loop.a != loop.b for loop in loops(options[0].a, options[0].b)):
            return None
        values = _Values(*self._readers(pair), self._sides)
        if len(options) > 1:
            options = tuple(values.with_means(option) for option in options)
        best = values.best(options) if len(options) > 1 else options[0]
        return best.a.elements if best is options[0] and best.a.elements == pair.a.elements else None

    def matrix(self, pair: Pair) -> tuple[int, int] | None:
        """Rows and columns of a pair of matrices in the same order; None for other pairs."""
        if self.plain(pair) is None or pair.a is None or pair.b is None:
            return None
        shapes = (pair.a.shapes[0], pair.b.shapes[0], self._predicted_shapes.get(pair.key, ()))
        known = next((shape for shape in shapes if len(shape) > 1 and prod(shape) == pair.a.elements), None)
        return (prod(known[:-1]), known[-1]) if known and known[-1] else None

    @cached_property
    def _predicted_shapes(self) -> Mapping[Key, tuple[int, ...]]:
        """The predicted shapes of weights that bitsandbytes packs without recording them."""
        predicted = self.result.a.prediction or self.result.b.prediction
        return {key: row.shape for row in predicted.expected for key in row.keys()} if predicted else {}

    def values(self, pair: Pair, start: int, stop: int) -> tuple[Array, Array]:
        """Elements of both sides, for a `plain` pair."""
        sides = self._readers(pair)
        exact = [read(start, stop) for side in sides if (read := side.integers(0))]
        a, b = (side.values(0)(start, stop) for side in sides)
        return _apart(a, b, exact)

    def raw(self, pair: Pair, start: int, stop: int) -> tuple[bytes, bytes] | None:
        """The bytes of both sides' elements, for a `plain` pair of one dtype without blocks; None for others."""
        a, b = self._readers(pair)
        dtype = a.dtype(0)
        if dtype is None or dtype != b.dtype(0) or group_of(dtype) > 1:
            return None
        return a.raw(0, start, stop), b.raw(0, start, stop)

    def weights(self) -> tuple[Weights, Weights]:
        """This thread's readers of both sides."""
        if not hasattr(self._threads, "readers"):
            self._threads.readers = Weights(self.result.a), Weights(self.result.b)
            self._open += self._threads.readers
        found: tuple[Weights, Weights] = self._threads.readers
        return found

    def steps(self, pair: Pair, start: int, stop: int) -> Array:
        """How far elements of b may be from their originals, for a `plain` pair."""
        _, b = self._readers(pair)
        step = spacing(b.values(0)(start, stop), pair.b.dtype) if pair.b else None
        if step is None:
            read = b.steps(0)
            step = read(start, stop) if read else np.zeros(stop - start, np.float32)
        return step

    def rows(self, pair: Pair, elements: int) -> Iterator[tuple[int, Array, Array, Array]]:
        """Some rows at a time of both matrices: the first's number, those of a, of b, and the steps of b's dtype."""
        shape = self.matrix(pair)
        if shape is None:
            return
        (rows, columns), sides = shape, self._readers(pair)
        most = max(1, elements // columns)
        for first in range(0, rows, most):
            start, stop = first * columns, min(first + most, rows) * columns
            a, b = (side.values(0)(start, stop) for side in sides)
            yield first, a.reshape(-1, columns), b.reshape(-1, columns), self.steps(pair, start, stop)

    def _readers(self, pair: Pair) -> tuple[_Side, _Side]:
        """The tensors of a pair: files are read by offset, packed weights are kept one at a time."""
        assert pair.a is not None
        assert pair.b is not None
        a, b = self.weights()
        return _Side(a, self.result.a.packing, pair.a), _Side(b, self.result.b.packing, pair.b)


#: Block type → elements and bytes of a block.
_KINDS = {kind.name: (kind.block, kind.nbytes) for kind in TYPES.values()}
#: How fine floats are: that of the original must be the finer one. What is not listed is packed.
FINENESS: Mapping[str, int] = {"F64": 4, "F32": 3, "F16": 2, "BF16": 2}


class _Side:
    """The tensors of one side of a pair, by index."""

    def __init__(self, weights: Weights, packing: Packing | None, side: Side) -> None:
        self.weights, self.packing, self.side = weights, packing, side
        self._last: tuple[tuple[int, int, int] | None, Array] = (None, np.empty(0))
        self._most: dict[int, float] = {}  # the tensor's index → its largest magnitude

    def values(self, number: int) -> Callable[[int, int], Array]:
        """A tensor's elements. The last result is kept, because steps are computed from the same values."""
        each = self.side.tensors[number]

        def read(start: int, stop: int) -> Array:
            place = (number, start, stop)
            if self._last[0] != place:
                found = self.weights.values(each, start, stop)
                self._last = (place, found.view(f"c{found.itemsize * 2}") if each.tensor.dtype in COMPLEX else found)
            return self._last[1]

        return read

    def integers(self, number: int) -> Callable[[int, int], Array] | None:
        """A tensor's elements as they are, if they are integers that floats do not hold; else None."""
        each = self.side.tensors[number]
        if each.tensor.dtype not in LONG or self.weights.is_packed(each):
            return None
        return lambda start, stop: self.weights.stored.integers(each.tensor, each.file, start, stop)

    def steps(self, number: int) -> Callable[[int, int], Array] | None:
        """How far each value may be from its original; None if unknown."""
        each = self.side.tensors[number]
        dtype, bits, group, largest = each.tensor.dtype, 0, None, None
        if self.packing and self.weights.is_packed(each):
            dtype, bits = self.packing.scheme, self.packing.bits
            group = self.packing.group_size or self.weights.shape(each)[-1]
            largest = self._largest(number) if self.weights.is_scaled_whole(each) else None
        step = step_of(dtype, bits, group, largest)
        if step is None:
            return None
        size, total = group_of(dtype, group), prod(self.side.shapes[number])

        def read(start: int, stop: int) -> Array:
            first, last = start // size * size, min(-(-stop // size) * size, total)
            found: Array = step(self.values(number)(first, last))
            return found[start - first : stop - first]

        return read

    def room(self, number: int) -> Room | None:
        """How far the originals of a tensor's elements may be from them; None if its format does not say."""
        each = self.side.tensors[number]
        if self.weights.is_packed(each) and each.tensor.dtype not in BLOCKS:
            known = self.weights.has_levels(each)
        else:
            known = each.tensor.dtype in BLOCKS or each.tensor.dtype in FLOATS
        return Room(self, number, self.side.shapes[number]) if known else None

    def float_of(self, number: int) -> str:
        """The dtype of plain numbers; empty for packed ones."""
        each = self.side.tensors[number]
        return "" if self.weights.is_packed(each) and each.tensor.dtype not in BLOCKS else each.tensor.dtype

    def _largest(self, number: int) -> float:
        """The largest magnitude of a tensor."""
        if number not in self._most:
            chunks = self.weights.chunks(self.side.tensors[number])
            self._most[number] = max((float(np.max(np.abs(values), initial=0)) for _, values in chunks), default=0.0)
        return self._most[number]

    def raw(self, number: int, start: int, stop: int) -> bytes:
        each = self.side.tensors[number]
        return self.weights.stored.raw(each.tensor, each.file, start, stop)

    def dtype(self, number: int) -> str | None:
        """The dtype of the bytes; None for packed weights."""
        each = self.side.tensors[number]
        header = self.weights.stored.header(each.file)
        plain = not self.weights.is_packed(each) and header.format != "pytorch"
        return each.tensor.dtype if plain and not any(found.rule == "big-endian" for found in header.findings) else None


class Room:
    """How far below and above the elements of a tensor their originals may be."""

    def __init__(self, side: _Side, number: int, shape: Sequence[int]) -> None:
        self._side, self._number, self._total = side, number, prod(shape)
        self.dtype = side.side.tensors[number].tensor.dtype
        self._last: tuple[tuple[int, int] | None, tuple[Array, ...]] = (None, ())
        self._blocks: tuple[int, int, Levels | None] = (0, 0, None)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS and not self._side.weights.is_packed(self._side.side.tensors[self._number])

    def below(self, start: int, stop: int) -> Array:
        return self._parts(start, stop)[0]

    def above(self, start: int, stop: int) -> Array:
        return self._parts(start, stop)[1]

    def scale(self, start: int, stop: int) -> Array:
        return self._parts(start, stop)[2]

    def offset(self, start: int, stop: int) -> Array:
        return self._parts(start, stop)[3]

    def _parts(self, start: int, stop: int) -> tuple[Array, ...]:
        if self._last[0] != (start, stop):
            self._last = ((start, stop), self._read(start, stop))
        return self._last[1]

    def _read(self, start: int, stop: int) -> tuple[Array, ...]:
        side, each = self._side, self._side.side.tensors[self._number]
        unlimited = np.full(stop - start, np.inf, np.float32)
        if self.is_float:
            return levels_of_float(side.values(self._number)(start, stop), self.dtype) or (unlimited, unlimited)
        if self.dtype not in BLOCKS:
            packed = side.weights.levels(each, start, stop)
            return room(packed, side.values(self._number)(start, stop)) if packed else (unlimited, unlimited)
        first, last, levels = self._held(start, stop)
        found: tuple[Array, ...] = room(levels, side.values(self._number)(first, last))
        if self.dtype in TRIED:
            offset = np.zeros_like(levels.scale) if levels.offset is None else levels.offset
            found = (*found, np.repeat(levels.scale, levels.group), np.repeat(offset, levels.group))
        return tuple(part[start - first : stop - first] for part in found)

    @property
    def is_uniform(self) -> bool:
        """Whether the levels are those of blocks, with equal gaps."""
        return self.dtype in UNIFORM and not self.is_float

    def half(self, start: int, stop: int) -> Array:
        """The least room of each element, but for the outermost levels: for blocks with equal gaps."""
        first, last, levels = self._held(start, stop)
        return half(levels, self._side.values(self._number)(first, last))[start - first : stop - first]

    def limits(self, numbers: Array, values: Array) -> tuple[Array, Array] | None:
        """How far these elements may lie from their levels; None outside the range that was read last."""
        first, last, levels = self._blocks
        if levels is None or numbers.min() < first or numbers.max() >= last:
            return None
        at = (numbers - first) // levels.group
        offset = None if levels.offset is None else levels.offset[at]
        return room(levels._replace(scale=levels.scale[at], offset=offset, group=1), values)

    def _held(self, start: int, stop: int) -> tuple[int, int, Levels]:
        """The levels of the whole blocks around a range, and where these begin and end."""
        size, nbytes = _KINDS[self.dtype]
        first, last = start // size * size, min(-(-stop // size) * size, self._total)
        if self._blocks[:2] != (first, last) or self._blocks[2] is None:
            raw = self._side.raw(self._number, first, last)
            self._blocks = (first, last, levels_of_blocks(raw, self.dtype, nbytes))
        levels = self._blocks[2]
        assert levels is not None
        return first, last, levels


class _ComputedRows:
    """The rows that `Made` describes, computed from the rows of one tensor."""

    def __init__(self, side: _Side, made: Made) -> None:
        self._side, self._made = side, made
        self._whole = {letter: self._whole_matrix(number) for letter, number in made.whole.items()}

    def _whole_matrix(self, number: int) -> Array:
        shape = self._side.side.shapes[number]
        return self._side.values(number)(0, prod(shape)).reshape(shape)

    def values(self, start: int, stop: int) -> Array:
        return self._applied(start, stop, lambda numbers: numbers)

    def magnitude(self, start: int, stop: int) -> float:
        """The largest sum of the terms' magnitudes: rounding errors grow with it."""
        return float(np.max(self._applied(start, stop, np.abs), initial=0))

    def _applied(self, start: int, stop: int, change: Callable[[Array], Array]) -> Array:
        columns, width = self._made.columns, self._side.side.shapes[self._made.x][-1]
        first, last = start // columns, -(-stop // columns)
        x = self._side.values(self._made.x)(first * width, last * width).reshape(-1, width)
        whole = {letter: change(values) for letter, values in self._whole.items()}
        rows = formulas.applied(self._made.value, change(x), whole.get).reshape(-1)
        return rows[start - first * columns : stop - first * columns]


class _Compared(NamedTuple):
    """The comparison of one piece, under the option that fits best."""

    option: Option
    sums: Sums
    piece: Piece


class _TileOfSide(NamedTuple):
    """The elements of one side in a tile."""

    side: _Side
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


class _Values(NamedTuple):
    """The values of both sides of a pair."""

    a: _Side
    b: _Side
    sides: Sides

    def compared(self, piece: Piece) -> _Compared:
        plain = piece.options[0]
        if plain.made is not None:
            return _Compared(plain, self._against_computed(plain, plain.made), piece)
        if not plain.name and self._have_same_bytes(plain):
            return _Compared(plain, Sums(elements=plain.a.elements), piece)
        options = [self.with_means(option) for option in piece.options]
        option = plain if len(options) == 1 else self.best(options)
        nest = loops(option.a, option.b)
        return _Compared(option, added(self._compare_tile(option, nest, tile) for tile in tiles(nest)), piece)

    def best(self, options: Sequence[Option]) -> Option:
        """What was done to the model's values, judging by a few samples: the option under which most elements fit."""
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
            model, _ = self._tiles_of_sides(option, nest, tile)
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
        rows, total = _ComputedRows(model, made), Sums()
        step, read = max(1, TILE // made.columns) * made.columns, file.steps(view.store)
        for start in range(0, view.elements, step):
            stop = min(start + step, view.elements)
            at = view.offset + start, view.offset + stop
            x, y = self.sides.model_and_file(rows.values(start, stop), file.values(view.store)(*at))
            steps = functools.partial(_steps_at, read, at)
            total += differences.sums(x, y, steps, slack=rows.magnitude(start, stop))
        return total

    def _tiles_of_sides(self, option: Option, nest: Sequence[Loop], tile: Tile) -> tuple[_TileOfSide, _TileOfSide]:
        """The model's and the file's part of a tile."""
        return self.sides.model_and_file(
            _TileOfSide(self.a, option.a, tile.a, tile.sizes, [loop.a for loop in nest]),
            _TileOfSide(self.b, option.b, tile.b, tile.sizes, [loop.b for loop in nest]),
        )

    def _compare_tile(self, option: Option, nest: Sequence[Loop], tile: Tile) -> Sums:
        model, file = self._tiles_of_sides(option, nest, tile)
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
            x, y = _apart(x, y, [each.gathered(read) for each in of_each if (read := each.integers())])
        strays = None if option.value else self._strays(option, nest, tile)
        return differences.sums(x, y, steps, slack=slack, strays=strays)

    def located(self, piece: Piece) -> Iterator[tuple[str, int]]:
        """The coarser side's elements that are not at the level nearest to the other's: a tensor's name, a number."""
        options = [self.with_means(option) for option in piece.options]
        option = options[0] if len(options) == 1 else self.best(options)
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
        own = (
            _TileOfSide(self.a, option.a, tile.a, tile.sizes, [loop.a for loop in nest]),
            _TileOfSide(self.b, option.b, tile.b, tile.sizes, [loop.b for loop in nest]),
        )
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


def _apart(a: Array, b: Array, exact: Sequence[Array]) -> tuple[Array, Array]:
    """Numbers of two sides, of which integers that differ are neighbours where they would be the same float."""
    if len(exact) == 2 and exact[0].dtype == exact[1].dtype:
        b = np.where((exact[0] != exact[1]) & (a == b), np.nextafter(b, np.inf), b)
    return a, b


def _steps_at(read: Callable[[int, int], Array] | None, at: tuple[int, int]) -> list[Array]:
    return [read(*at)] if read else []


def _is_lossy(pair: Pair) -> bool:
    """Whether the two are stored differently, so that a difference of one step is not a change."""
    return pair.a is not None and pair.b is not None and pair.a.dtype != pair.b.dtype


def _data_of_pieces(pair: Pair, found: Sequence[_Compared], *, lossy: bool, sides: Sides) -> Data:
    """The pieces of a pair merged."""
    statuses = [agreement(each.sums, lossy=lossy or bool(each.option.value or each.option.made)) for each in found]
    worst = max(statuses, key=AGREEMENTS.index, default=AGREEMENTS[0])
    names = [name for each in found for name in each.option.name.split(", ") if name]
    layout = () if any(each.option.beside for each in found) else _differences_in_layout(pair, sides)
    return Data(worst, ", ".join(dict.fromkeys([*layout, *names])) or None, added(each.sums for each in found))


def _differences_in_layout(pair: Pair, sides: Sides) -> Iterator[str]:
    """Differences in layout only."""
    assert pair.a is not None
    assert pair.b is not None
    turned = [
        any(is_turned(*each, known, sides) for each in zip(side.tensors, side.keys, side.shapes, strict=True))
        for side, known in ((pair.a, sides.a), (pair.b, sides.b))
    ]
    if turned[0] != turned[1]:
        yield "transposed"
    experts = [{key.expert for key in side.keys} for side in (pair.a, pair.b)]
    if len(experts[0]) != len(experts[1]):
        yield "stacked" if len(experts[0]) > len(experts[1]) else "unstacked"
    roles = [{(key.branch, key.role) for key in side.keys} for side in (pair.a, pair.b)]
    if len(roles[0]) != len(roles[1]):
        yield "fused" if len(roles[0]) > len(roles[1]) else "split"
