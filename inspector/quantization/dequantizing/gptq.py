"""GPTQ: weight[i, o] = scales[group of i, o] * (q[i, o] - zero[group of i, o]).

AutoGPTQ's files store each zero point minus one; those with `checkpoint_format` "gptq_v2" unchanged. Without zero
points, zero is the middle of the range. Marlin's layouts are permuted for a GPU, and not undone here.
"""

from __future__ import annotations

import numpy as np

from inspector.formats.decoding import Array
from inspector.quantization.dequantizing.packed import Dequantized, Packed, unpacked_columns, unpacked_rows
from inspector.quantization.levels import F16, Levels


def dequantized(packed: Packed) -> Dequantized | None:
    """A weight [outputs, inputs], from words that each pack several inputs of one output."""
    if ".qweight" not in packed or ".scales" not in packed or len(packed.shape) != 2:
        return None
    outputs, inputs = packed.shape
    words, scales = packed.tensors[".qweight"].shape, packed.tensors[".scales"].shape
    if words[-1] != outputs or scales[-1] != outputs or words[0] * 32 != inputs * packed.bits or scales[0] < 1:
        return None
    group = _group_of_inputs(packed, inputs, scales[0])

    def rows(first: int, last: int) -> Array:
        numbers: Array = unpacked_rows(packed.whole(".qweight")[:, first:last], packed.bits).astype(np.float32)
        numbers -= _zero_points(packed, first, last)[group]
        numbers *= packed.whole(".scales")[group, first:last]
        outputs_first: Array = numbers.T
        return outputs_first

    def levels(first: int, last: int) -> Levels:
        scales = packed.whole(".scales")[group, first:last].T.astype(np.float32)
        zeros = _zero_points(packed, first, last)[group].T
        return Levels(scales.reshape(-1), -(zeros * scales).reshape(-1), 1, (0, (1 << packed.bits) - 1), F16)

    return Dequantized(packed.shape, rows, levels)


def _group_of_inputs(packed: Packed, inputs: int, groups: int) -> Array:
    """The group of each input: from `g_idx`, or consecutive."""
    if ".g_idx" in packed and packed.tensors[".g_idx"].shape == (inputs,):
        return packed.whole(".g_idx").astype(np.int64) % groups
    return np.arange(inputs) // -(-inputs // groups)


def _zero_points(packed: Packed, first: int, last: int) -> Array:
    """[groups, outputs]"""
    groups = packed.tensors[".scales"].shape[0]
    if ".qzeros" not in packed:
        return np.full((groups, 1), 1 << (packed.bits - 1), np.float32)
    less = 0 if packed.values.get("checkpoint_format") == "gptq_v2" else 1
    zeros = unpacked_columns(packed.whole(".qzeros"), packed.bits)[:, first:last].astype(np.float32)
    zeros += np.float32(less)
    return zeros
