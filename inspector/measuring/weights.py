"""The weights of a checkpoint as numbers, with packed ones dequantized.

    with closing(Weights(result)) as weights:        # result: what `reconcile` returned
        weights.shape(labelled)                      # logical: (4096, 4096) for a GPTQ's qweight
        for start, values in weights.chunks(labelled):
            ...                                      # from element `start` on, row-major, float32 or float64
        weights.values(labelled, start, stop)        # any range of elements
        weights.is_defined(labelled)                 # False for packed weights that nothing here dequantizes

Plain tensors and GGUF's blocks are returned as by `measuring.stored`. Memory is bounded by the chunk, except for
schemes that store a weight's inputs before its outputs (GPTQ, AWQ): these keep the packed words of one weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from inspector.errors import FormatError
from inspector.formats.decoding import Array
from inspector.measuring.stored import CHUNK, Stored
from inspector.model import Labelled, Packing, Reconciliation, Tensor
from inspector.quantization.dequantizing import Dequantized, Packed, dequantized
from inspector.quantization.levels import Levels
from inspector.quantization.scheme import Scheme
from inspector.quantization.schemes import all_schemes
from inspector.sources import Place
from inspector.units import escape


class Weights:
    """A reconciled checkpoint's data."""

    def __init__(self, result: Reconciliation, place: Place | None = None) -> None:
        self.stored = Stored(result.checkpoint, place)
        self._packing = result.packing
        config = result.checkpoint.config
        self._declared = config.declared_packing if config else {}
        self._scheme = _scheme_of(result.packing) if result.packing else None
        self._pieces = _pieces_by_weight(result, result.packing) if result.packing and self._scheme else {}
        self._last: tuple[str, Dequantized | None] = ("", None)

    def close(self) -> None:
        """Close the files."""
        self.stored.close()

    def is_packed(self, each: Labelled) -> bool:
        """Whether a tensor encodes a weight of another shape or scale."""
        return self._packing is not None and each.tensor.name in self._packing.names

    def is_defined(self, each: Labelled) -> bool:
        """Whether a packed tensor can be dequantized. True for every plain tensor."""
        return not self.is_packed(each) or self._weight_of(each) is not None

    def is_scaled_whole(self, each: Labelled) -> bool:
        """Whether a packed weight has a single scale."""
        if not self.is_packed(each) or self._packing is None:
            return False
        pieces = self._pieces.get(self._packing.names[each.tensor.name], ())
        scales = [found.tensor.elements for found in pieces if "scale" in found.tensor.name.rpartition(".")[2]]
        return bool(scales) and max(scales) == 1

    def shape(self, each: Labelled) -> tuple[int, ...]:
        """Logical shape."""
        found = self._weight_of(each) if self.is_packed(each) else None
        return found.shape if found else each.tensor.shape

    def chunks(self, each: Labelled, elements: int = CHUNK) -> Iterator[tuple[int, Array]]:
        """Yields the index of the first element and the values from there on, about `elements` at a time.

        Raises:
            FormatError: the dtype or the packing has no definition.
            SourceError: the file ends early, or cannot be read.
        """
        if not self.is_packed(each):
            for chunk in self.stored.chunks(each.tensor, each.file, elements):
                yield chunk.start, chunk.values
            return
        found = self._defined_weight(each)
        columns = _row_length(found.shape)
        rows, step = prod(found.shape) // columns, max(1, elements // columns)
        for first in range(0, rows, step):
            yield first * columns, _float_rows(found, first, min(first + step, rows)).reshape(-1)

    def values(self, each: Labelled, start: int = 0, stop: int | None = None) -> Array:
        """The logical elements from `start` up to `stop`, in row-major order. Raises as `chunks` does."""
        if not self.is_packed(each):
            return self.stored.values(each.tensor, each.file, start, stop)
        found = self._defined_weight(each)
        columns, total = _row_length(found.shape), prod(found.shape)
        stop = total if stop is None else min(stop, total)
        first, last = start // columns, -(-stop // columns)
        return _float_rows(found, first, last).reshape(-1)[start - first * columns : stop - first * columns]

    def has_levels(self, each: Labelled) -> bool:
        """Whether the levels of a packed weight's elements are known."""
        found = self._weight_of(each)
        return found is not None and found.levels is not None

    def levels(self, each: Labelled, start: int, stop: int) -> Levels | None:
        """The levels that a packed weight's elements can take, from whole rows; None if they are not known."""
        found = self._defined_weight(each)
        if found.levels is None:
            return None
        columns = _row_length(found.shape)
        first, last = start // columns, -(-stop // columns)
        return found.levels(first, last).part(start - first * columns, stop - first * columns)

    def _defined_weight(self, each: Labelled) -> Dequantized:
        found = self._weight_of(each)
        if found is None:
            scheme = self._packing.scheme if self._packing else ""
            raise FormatError(f"{escape(each.tensor.name, 200)}: weights packed by {scheme} cannot be dequantized here")
        return found

    def _weight_of(self, each: Labelled) -> Dequantized | None:
        """The weight that a packed tensor encodes; the last one's words are kept."""
        last = self._last  # a snapshot, since there may be several threads
        if last[0] != each.tensor.name:
            last = self._last = (each.tensor.name, self._dequantize(each))
        return last[1]

    def _dequantize(self, each: Labelled) -> Dequantized | None:
        packing, scheme = self._packing, self._scheme
        if packing is None or scheme is None:
            return None
        name = each.tensor.name
        stem = _stem_of_pieces(scheme, name, packing.names[name])
        pieces = {found.tensor.name[len(stem) :]: found for found in self._pieces.get(packing.names[name], ())}
        files = {found.tensor.name: found.file for found in pieces.values()}

        def read(tensor: Tensor, start: int, stop: int) -> Array:
            return self.stored.integers(tensor, files[tensor.name], start, stop)

        packed = Packed(
            {end: found.tensor for end, found in pieces.items()},
            read,
            packing.shapes[name],
            packing.odd_bits.get(name, packing.bits),
            self._declared,
        )
        return dequantized(scheme.name, packed)


def _row_length(shape: tuple[int, ...]) -> int:
    return max(shape[-1], 1) if len(shape) > 1 else 1


def _float_rows(found: Dequantized, first: int, last: int) -> Array:
    with np.errstate(all="ignore"):  # the caller looks for NaN scales
        return np.ascontiguousarray(found.rows(first, last), np.float32)


def _scheme_of(packing: Packing) -> Scheme | None:
    """The scheme at the start of a packing's name."""
    named = [each for each in all_schemes() if f"{packing.scheme}-".startswith(f"{each.name}-")]
    return max(named, key=lambda each: len(each.name), default=None)


def _pieces_by_weight(result: Reconciliation, packing: Packing) -> Mapping[str, list[Labelled]]:
    """Weight's name → its tensor and side data."""
    found: dict[str, list[Labelled]] = {}
    for each in result.tensors:
        name = each.tensor.name
        served: Any = packing.names.get(name) or packing.side.get(name)
        if served:
            found.setdefault(served, []).append(each)
    return found


def _stem_of_pieces(scheme: Scheme, name: str, weight: str) -> str:
    """The stem of the pieces' names."""
    for end, own in scheme.weights.items():
        if name.endswith(end) and weight == name[: len(name) - len(end)] + own:
            return name[: len(name) - len(end)]
    return name
