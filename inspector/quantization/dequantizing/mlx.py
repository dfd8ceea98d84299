"""MLX: weight = scale * q + bias for each group, or its float modes, whose scales have one byte each."""

from __future__ import annotations

import numpy as np

from inspector.formats.decoding import Array, nibbles, table
from inspector.quantization.dequantizing.packed import Dequantized, Packed, spread, unpacked_columns

#: Weights that share a scale → the dtype of weights and of scales in the modes without biases.
_MODES = {(4, 32): ("F4", "F8_E8M0"), (4, 16): ("F4", "F8_E4M3"), (8, 32): ("F8_E4M3", "F8_E8M0")}


def dequantized(packed: Packed) -> Dequantized | None:
    """Weights [outputs, inputs], and stacks of them."""
    if not {".weight", ".scales"} <= packed.tensors.keys() or len(packed.shape) < 2:
        return None
    biases = packed.first(".biases", ".qbiases")
    if biases is not None:
        return Dequantized(packed.shape, lambda first, last: _affine_rows(packed, biases, first, last))
    groups = packed.tensors[".scales"].shape[-1]
    mode = _MODES.get((packed.bits, packed.shape[-1] // groups if groups else 0))
    return Dequantized(packed.shape, lambda first, last: _float_rows(packed, mode, first, last)) if mode else None


def _affine_rows(packed: Packed, biases: str, first: int, last: int) -> Array:
    columns = packed.shape[-1]
    numbers = unpacked_columns(packed.rows(".weight", first, last), packed.bits)[:, :columns].astype(np.float32)
    numbers *= spread(packed.rows(".scales", first, last), columns)
    numbers += spread(packed.rows(biases, first, last), columns)
    return numbers


def _float_rows(packed: Packed, mode: tuple[str, str], first: int, last: int) -> Array:
    words = np.ascontiguousarray(packed.rows(".weight", first, last)).view(np.uint8)
    codes = nibbles(words) if mode[0] == "F4" else words
    scales = table(mode[1])[packed.rows(".scales", first, last)]
    return table(mode[0])[codes] * spread(scales, packed.shape[-1])
