"""AWQ: weight[o, i] = scales[o, group of i] * (q - zero).

`gemm` interleaves the eight outputs of a word, for the order in which its kernel unpacks them; `gemv` keeps the inputs
of a word in order (AutoAWQ's `WQLinear_GEMM` and `WQLinear_GEMV`). The other layouts are specific to a GPU.
"""

from __future__ import annotations

import numpy as np

from inspector.formats.decoding import Array
from inspector.quantization.dequantizing.packed import Dequantized, Packed, unpacked_columns
from inspector.quantization.levels import F16, Levels

#: Position in a word of `gemm`, from the lowest bits → which of the eight outputs it holds.
ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
#: The inverse: output → its position.
PLACES = np.argsort(ORDER)


def dequantized(packed: Packed) -> Dequantized | None:
    """A weight [outputs, inputs] of 4 bits."""
    pieces = packed.tensors
    if not {".qweight", ".qzeros", ".scales"} <= pieces.keys() or packed.bits != 4 or len(packed.shape) != 2:
        return None
    outputs, inputs = packed.shape
    words, zeros, scales = (pieces[end] for end in (".qweight", ".qzeros", ".scales"))
    if words.dtype != "I32" or zeros.dtype != "I32":
        return None
    if words.shape == (inputs, outputs // 8) and zeros.shape == (scales.shape[0], outputs // 8):
        return Dequantized(
            packed.shape,
            lambda first, last: _gemm_rows(packed, first, last),
            lambda first, last: _gemm_levels(packed, first, last),
        )
    if words.shape == (outputs, inputs // 8) and scales.shape[0] == zeros.shape[0] == outputs:
        return Dequantized(packed.shape, lambda first, last: _gemv_rows(packed, first, last))
    return None


def _gemm_rows(packed: Packed, first: int, last: int) -> Array:
    begin, end = first // 8, -(-last // 8)
    scales = packed.whole(".scales")
    group = np.arange(packed.shape[1]) // -(-packed.shape[1] // scales.shape[0])
    numbers = _in_order_of_outputs(packed.whole(".qweight")[:, begin:end])
    numbers -= _in_order_of_outputs(packed.whole(".qzeros")[:, begin:end])[group]
    numbers = numbers[:, first - begin * 8 : last - begin * 8]
    numbers *= scales[group, first:last]
    outputs_first: Array = numbers.T
    return outputs_first


def _gemm_levels(packed: Packed, first: int, last: int) -> Levels:
    scales = packed.whole(".scales")
    group = np.arange(packed.shape[1]) // -(-packed.shape[1] // scales.shape[0])
    zeros = _in_order_of_outputs(packed.whole(".qzeros"))[:, first:last]
    own = scales[:, first:last].astype(np.float32)
    return Levels(own[group].T.reshape(-1), -(zeros * own)[group].T.reshape(-1), 1, (0, 15), F16)


def _in_order_of_outputs(words: Array) -> Array:
    """[n, outputs / 8] → [n, outputs]"""
    eights = unpacked_columns(words, 4).reshape(len(words), -1, 8)
    numbers: Array = eights[:, :, PLACES].reshape(len(words), -1).astype(np.float32)
    return numbers


def _gemv_rows(packed: Packed, first: int, last: int) -> Array:
    """Scales and zero points are padded to whole words, so only the declared group shows how many are used."""
    inputs = packed.shape[1]
    declared = packed.values.get("group_size", packed.values.get("q_group_size"))
    size = declared if isinstance(declared, int) and declared > 0 else inputs
    group = np.arange(inputs) // size
    numbers = unpacked_columns(packed.rows(".qweight", first, last), 4).astype(np.float32)
    numbers -= unpacked_columns(packed.rows(".qzeros", first, last), 4).astype(np.float32)[:, group]
    numbers *= packed.rows(".scales", first, last)[:, group]
    return numbers
