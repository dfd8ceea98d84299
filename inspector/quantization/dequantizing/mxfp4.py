"""MXFP4 as gpt-oss stores it: 4-bit floats, the lower half of a byte first, times a power of two for every 32."""

from __future__ import annotations

import numpy as np

from inspector.formats.decoding import Array, nibbles, table
from inspector.quantization.dequantizing.packed import Dequantized, Packed
from inspector.quantization.levels import FLOAT4, Levels

_ENDS = {"_blocks": "_scales", ".blocks": ".scales"}


def dequantized(packed: Packed) -> Dequantized | None:
    """Stacked experts [experts, outputs, inputs]."""
    end = packed.first(*_ENDS)
    if end is None or _ENDS[end] not in packed:
        return None
    *_, groups, half = packed.tensors[end].shape

    def rows(first: int, last: int) -> Array:
        size = groups * half
        blocks = packed.part(end, first * size, last * size).reshape(-1, half)
        scales = packed.part(_ENDS[end], first * groups, last * groups)
        values = table("F4")[nibbles(blocks)] * table("F8_E8M0")[scales.astype(np.uint8)][:, None]
        return values.reshape(last - first, -1)

    def levels(first: int, last: int) -> Levels:
        scales = table("F8_E8M0")[packed.part(_ENDS[end], first * groups, last * groups).astype(np.uint8)]
        return Levels(scales.repeat(half * 2), None, 1, FLOAT4)

    return Dequantized(packed.shape, rows, levels)
