"""ModelOpt: NVFP4 under two scales, and FP8 or INT8 under one."""

from __future__ import annotations

from math import prod

import numpy as np

from inspector.formats.decoding import Array, nibbles, table
from inspector.quantization.dequantizing.fp8 import scaled
from inspector.quantization.dequantizing.packed import Dequantized, Packed, spread


def dequantized(packed: Packed) -> Dequantized | None:
    """Weights packed along their inputs. `pre_quant_scale` belongs to the inputs and is not applied."""
    stem = ".weight" if ".weight" in packed else "" if "" in packed else None
    scale = packed.first(".weight_scale", "_weight_scale")
    if stem is None or scale is None:
        return None
    weight = packed.tensors[stem]
    if weight.dtype != "U8":
        return scaled(packed, stem, scale)
    if len(weight.shape) < 2 or packed.shape != (*weight.shape[:-1], weight.shape[-1] * 2):
        return None
    outer = packed.first(".weight_scale_2", "_weight_scale_2")
    factor = packed.whole(outer).reshape(-1) if outer else np.ones(1, np.float32)
    outputs = prod(packed.shape[:-1])
    if not len(factor) or outputs % len(factor):
        return None
    each = outputs // len(factor)  # rows that share a scale of scales: stacked experts have one each

    def rows(first: int, last: int) -> Array:
        values = fours(packed, stem, scale, first, last)
        values *= factor[np.arange(first, last) // each, None]
        return values

    return Dequantized(packed.shape, rows)


def fours(packed: Packed, end: str, scale: str, first: int, last: int) -> Array:
    """4-bit floats, two per byte, with a scale for each group of a row: F8_E4M3, or powers of two."""
    values = table("F4")[nibbles(packed.rows(end, first, last))]
    scales = packed.rows(scale, first, last)
    if packed.tensors[scale].dtype == "U8":
        scales = table("F8_E8M0")[scales]
    return values * spread(scales, values.shape[1])
