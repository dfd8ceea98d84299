"""The pieces of one packed weight, read on demand, and the arithmetic that schemes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from inspector.formats.decoding import Array
from inspector.model import Tensor
from inspector.quantization.levels import Levels


class Dequantized(NamedTuple):
    """A packed weight as numbers."""

    shape: tuple[int, ...]  # logical
    #: Rows from `start` up to, but excluding, `stop`, as float32 [rows, columns]; the dimensions before the last are
    #: merged. A one-dimensional weight has rows of one element.
    rows: Callable[[int, int], Array]
    #: The levels that each value of some rows can take, a group of one each; None if not stated here.
    levels: Callable[[int, int], Levels] | None = None


class Packed:
    """One packed weight: its pieces by the suffixes of their names, with what the headers say about it."""

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        read: Callable[[Tensor, int, int], Array],
        shape: tuple[int, ...],
        bits: int,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            tensors: suffix of the name → tensor: ".qweight".
            read: reads a range of a tensor's elements, in one dimension: integers unchanged, floats as float32.
            shape: logical, as far as the headers show it.
            values: what the configuration declares.
        """
        self.tensors = tensors
        self.shape = shape
        self.bits = bits
        self.values: Mapping[str, Any] = values or {}
        self._read = read
        self._whole: dict[str, Array] = {}

    def __contains__(self, end: str) -> bool:
        return end in self.tensors

    def first(self, *ends: str) -> str | None:
        """The first of these suffixes that exists."""
        return next((end for end in ends if end in self.tensors), None)

    def part(self, end: str, start: int, stop: int) -> Array:
        """Some elements of a piece, in one dimension."""
        return self._read(self.tensors[end], start, stop)

    def rows(self, end: str, first: int, last: int) -> Array:
        """Rows of a piece, the dimensions before the last merged."""
        columns = self.tensors[end].shape[-1]
        return self.part(end, first * columns, last * columns).reshape(-1, columns)

    def whole(self, end: str) -> Array:
        """A piece in its own shape, read only once: side data, or words that each hold weights of one column."""
        if end not in self._whole:
            tensor = self.tensors[end]
            self._whole[end] = self.part(end, 0, prod(tensor.shape)).reshape(tensor.shape)
        return self._whole[end]


def unpacked_rows(words: Array, bits: int) -> Array:
    """Numbers of `bits` bits in 32-bit words, consecutive down each column, the lowest bits first.

    [n, columns] → at least [n * 32 / bits, columns], zeros after the last. A number may cross the end of a word, as
    GPTQ's 3-bit numbers do.
    """
    words = words.astype(np.uint32, copy=False)
    mask = np.uint32((1 << bits) - 1)
    if 32 % bits == 0:
        parts = [words >> np.uint32(shift) & mask for shift in range(0, 32, bits)]
        return np.stack(parts, axis=1).reshape(-1, words.shape[1])
    words = np.pad(words, ((0, -len(words) % bits), (0, 0)))
    turn = words.reshape(-1, bits, words.shape[1])  # 32 numbers of b bits fill b words
    return np.stack([_across(turn, number * bits, mask) for number in range(32)], axis=1).reshape(-1, words.shape[1])


def _across(turn: Array, at: int, mask: Any) -> Array:
    """The number that begins at bit `at` of each turn: [turns, words, columns] → [turns, columns]."""
    word, shift = divmod(at, 32)
    found = turn[:, word] >> np.uint32(shift)
    if shift and word + 1 < turn.shape[1]:
        found = found | turn[:, word + 1] << np.uint32(32 - shift)
    result: Array = found & mask
    return result


def unpacked_columns(words: Array, bits: int) -> Array:
    """The same along each row: [rows, n] → at least [rows, n * 32 / bits]."""
    numbers: Array = unpacked_rows(words.T, bits).T
    return numbers


def spread(scales: Array, columns: int) -> Array:
    """A scale for each column, from one for each group of them: [rows, groups] → [rows, columns]."""
    size = -(-columns // scales.shape[1])
    return scales if scales.shape[1] == 1 else np.repeat(scales, size, axis=1)[:, :columns]
