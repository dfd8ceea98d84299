"""Compares the values of two checkpoints' pairs, piece by piece as they are read.

    with closing(Comparison(result)) as comparison:        # result: what `diff` returned
        for pair, data in zip(result.pairs, comparison.run(workers=4).data):
            data.status, data.transform, data.sums.relative

Equal bytes are recognised without decoding. Everything else is decoded to float32 in pieces of some 500,000 elements,
so that memory does not grow with the tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from threading import local

import numpy as np

from inspector.comparing.agreement import AGREEMENTS, Data, added
from inspector.comparing.diff import Diff
from inspector.comparing.differences import agreement
from inspector.comparing.layouts import pieces
from inspector.comparing.pair_values import Compared, PairValues, apart
from inspector.comparing.pairing import Pair
from inspector.comparing.sides import Known, Sides, is_turned
from inspector.comparing.stored_side import StoredSide
from inspector.comparing.strided import loops
from inspector.errors import FormatError
from inspector.formats.decoding import COMPLEX, Array
from inspector.measuring.stored import check_unchanged, stamps
from inspector.measuring.weights import Weights
from inspector.model import Key
from inspector.quantization.precision import group_of, spacing
from inspector.sources import workers as threads


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
        values = PairValues(*self._readers(pair), self._sides)
        found = [values.compared(piece) for piece in matched]
        return _data_of_pieces(pair, found, lossy=_is_lossy(pair), sides=self._sides)

    def strays(self, pair: Pair) -> list[tuple[str, int]]:
        """Elements that are not at the level nearest to their original, by tensor's name and number."""
        values = PairValues(*self._readers(pair), self._sides)
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
        values = PairValues(*self._readers(pair), self._sides)
        best = values.best(options)
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
        return apart(a, b, exact)

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

    def _readers(self, pair: Pair) -> tuple[StoredSide, StoredSide]:
        """The tensors of a pair: files are read by offset, packed weights are kept one at a time."""
        assert pair.a is not None
        assert pair.b is not None
        a, b = self.weights()
        return StoredSide(a, self.result.a.packing, pair.a), StoredSide(b, self.result.b.packing, pair.b)


def _is_lossy(pair: Pair) -> bool:
    """Whether the two are stored differently, so that a difference of one step is not a change."""
    return pair.a is not None and pair.b is not None and pair.a.dtype != pair.b.dtype


def _data_of_pieces(pair: Pair, found: Sequence[Compared], *, lossy: bool, sides: Sides) -> Data:
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
