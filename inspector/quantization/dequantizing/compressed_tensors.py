"""compressed-tensors: integers in words, 8-bit integers and floats, NVFP4, MXFP4.

Packed integers are stored with half their range added. NVFP4's scales are divided by the tensor's `global` one.
"""

from __future__ import annotations

import numpy as np

from inspector.formats.decoding import Array, table
from inspector.quantization.dequantizing.fp8 import scales_of
from inspector.quantization.dequantizing.modelopt import fours
from inspector.quantization.dequantizing.packed import (
    Dequantized,
    Packed,
    spread,
    unpacked_columns,
    unpacked_rows,
)


def dequantized(packed: Packed) -> Dequantized | None:
    """Weights [outputs, inputs]; None for sparse ones, and for words with unused bits."""
    pieces = packed.tensors
    if ".weight_scale" not in pieces:
        return None
    if ".weight_packed" in pieces and pieces[".weight_packed"].dtype == "U8" and packed.bits == 4:
        return Dequantized(packed.shape, lambda first, last: _float_rows(packed, first, last))
    if ".weight_packed" in pieces:
        return _integer_rows(packed)
    if ".weight" in pieces:
        return Dequantized(packed.shape, lambda first, last: _byte_rows(packed, first, last))
    return None


def _float_rows(packed: Packed, first: int, last: int) -> Array:
    values = fours(packed, ".weight_packed", ".weight_scale", first, last)
    if ".weight_global_scale" in packed:
        values = values / packed.whole(".weight_global_scale").reshape(-1)[:1]
    return values


def _byte_rows(packed: Packed, first: int, last: int) -> Array:
    """Integers or floats of one byte each."""
    values = packed.rows(".weight", first, last).astype(np.float32)
    if ".weight_zero_point" in packed and packed.tensors[".weight_zero_point"].dtype in ("I8", "I32"):
        values -= scales_of(packed, ".weight_zero_point", first, last)
    return values * _scales_of_rows(packed, first, last)


def _scales_of_rows(packed: Packed, first: int, last: int) -> Array:
    scales = scales_of(packed, ".weight_scale", first, last)
    return table("F8_E8M0")[scales.astype(np.uint8)] if packed.tensors[".weight_scale"].dtype == "U8" else scales


def _integer_rows(packed: Packed) -> Dequantized | None:
    words = packed.tensors[".weight_packed"]
    if words.dtype != "I32" or len(words.shape) != 2:
        return None
    columns = packed.shape[-1]
    if ".weight_shape" in packed:  # rows are padded to whole words: the shape shows where they end
        shape = tuple(int(size) for size in packed.whole(".weight_shape").reshape(-1))
        columns = shape[-1] if len(shape) == 2 and shape[0] == words.shape[0] and shape[1] <= columns else columns
    if -(-columns * packed.bits // 32) != words.shape[1]:  # older releases left bits of a word unused
        return None
    half = 1 << (packed.bits - 1)

    def rows(first: int, last: int) -> Array:
        values = unpacked_columns(packed.rows(".weight_packed", first, last), packed.bits)[:, :columns]
        numbers = values.astype(np.float32) - half
        scales = packed.rows(".weight_scale", first, last)
        group = _group_of_columns(packed, columns, scales.shape[1])
        if ".weight_zero_point" in packed:
            zeros = _zero_points(packed, half)[first:last]
            numbers -= spread(zeros, columns) if group is None else zeros[:, group]
        return numbers * (spread(scales, columns) if group is None else scales[:, group])

    return Dequantized((words.shape[0], columns), rows)


def _group_of_columns(packed: Packed, columns: int, groups: int) -> Array | None:
    """The group of each column, if they are not in order."""
    if ".weight_g_idx" not in packed or packed.tensors[".weight_g_idx"].shape != (columns,):
        return None
    order = packed.whole(".weight_g_idx").astype(np.int64)
    return None if (order < 0).any() else order % groups  # all -1 if there is no order


def _zero_points(packed: Packed, half: int) -> Array:
    """[outputs, groups]: packed along the outputs, or one byte each."""
    zeros = packed.whole(".weight_zero_point")
    if packed.tensors[".weight_zero_point"].dtype != "I32":
        return zeros.astype(np.float32)
    outputs = packed.tensors[".weight_packed"].shape[0]
    return unpacked_rows(zeros, packed.bits)[:outputs].astype(np.float32) - half
