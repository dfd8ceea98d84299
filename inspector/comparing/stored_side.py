"""The tensors of one side of a pair as they are read: numbers, bytes, steps, and the room that a format leaves them.

side = StoredSide(weights, packing, pair.b)
side.values(0)(start, stop)         # a tensor's elements
side.room(0).above(start, stop)     # how far above each its original may be
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from inspector.comparing import formulas
from inspector.comparing.layouts import Made
from inspector.comparing.pairing import Side
from inspector.formats.decoding import COMPLEX, Array
from inspector.formats.ggml import TYPES
from inspector.measuring.stored import LONG
from inspector.measuring.weights import Weights
from inspector.model import Packing
from inspector.quantization.levels import BLOCKS, TRIED, UNIFORM, Levels, half, levels_of_blocks, levels_of_float, room
from inspector.quantization.precision import FLOATS, group_of, step_of

#: Block type → elements and bytes of a block.
_SIZES = {kind.name: (kind.block, kind.nbytes) for kind in TYPES.values()}


class StoredSide:
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

    def __init__(self, side: StoredSide, number: int, shape: Sequence[int]) -> None:
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
        size, nbytes = _SIZES[self.dtype]
        first, last = start // size * size, min(-(-stop // size) * size, self._total)
        if self._blocks[:2] != (first, last) or self._blocks[2] is None:
            raw = self._side.raw(self._number, first, last)
            self._blocks = (first, last, levels_of_blocks(raw, self.dtype, nbytes))
        levels = self._blocks[2]
        assert levels is not None
        return first, last, levels


class ComputedRows:
    """The rows that `Made` describes, computed from the rows of one tensor."""

    def __init__(self, side: StoredSide, made: Made) -> None:
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
