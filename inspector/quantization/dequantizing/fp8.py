"""FP8: each weight times the scale of its tensor, of its row, or of its block.

`weight_scale_inv` is a factor as `weight_scale` is: the inverse of what the weights were multiplied with.
"""

from __future__ import annotations

from math import prod

import numpy as np

from inspector.formats.decoding import nibbles, table
from inspector.quantization.dequantizing.packed import Array, Dequantized, Packed, spread
from inspector.quantization.schemes.fp8 import SCALES


def dequantized(packed: Packed) -> Dequantized | None:
    """A weight with the scales that serve it; 4-bit floats in bytes too."""
    end, scale = packed.first(".weight", ""), packed.first(*SCALES)
    if end is None or scale is None:
        return None
    return scaled(packed, end, scale)


def scaled(packed: Packed, end: str, scale: str) -> Dequantized | None:
    """Rows times scales; None where the scales' shape fits neither tensor, rows nor blocks."""
    columns = packed.shape[-1] if len(packed.shape) > 1 else 1
    shape = packed.tensors[scale].shape
    pairs = packed.tensors[end].dtype in ("I8", "U8") and prod(packed.tensors[end].shape) * 2 == prod(packed.shape)
    if not _fits(shape, packed.shape):
        return None

    def rows(first: int, last: int) -> Array:
        values = packed.rows(end, first, last) if columns > 1 else packed.part(end, first, last)[:, None]
        if pairs:
            values = table("F4")[nibbles(values.view(np.uint8))]
        return values.astype(np.float32) * scales_of(packed, scale, first, last)

    return Dequantized(packed.shape, rows)


def _fits(scale: tuple[int, ...], weight: tuple[int, ...]) -> bool:
    if prod(scale) == 1 or scale == weight[:-1]:
        return True
    return len(scale) == len(weight) and all(0 < own <= size for own, size in zip(scale, weight, strict=True))


def scales_of(packed: Packed, end: str, first: int, last: int) -> Array:
    """The scales of some rows: [rows, columns], or with one column or row for all."""
    scales = packed.whole(end).astype(np.float32)
    if scales.size == 1:
        return scales.reshape(1, 1)
    weight = packed.shape
    if scales.shape == weight[:-1]:
        return scales.reshape(-1)[first:last, None]
    for axis, size in enumerate(weight[:-1]):  # to one scale a row, each axis by itself
        if scales.shape[axis] not in (1, size):
            places = np.arange(size) // _side(size, scales.shape[axis])
            scales = np.take(scales, places, axis=axis)
    wide = np.broadcast_to(scales, (*weight[:-1], scales.shape[-1])).reshape(-1, scales.shape[-1])[first:last]
    return spread_blocks(wide, weight[-1])


def _side(size: int, blocks: int) -> int:
    """A block's side: blocks are powers of two, the last one cut; even parts otherwise."""
    if size % blocks == 0:
        return size // blocks
    return 1 << (-(-size // blocks) - 1).bit_length()


def spread_blocks(scales: Array, columns: int) -> Array:
    """[rows, blocks] → [rows, columns]"""
    if scales.shape[1] in (1, columns) or columns % scales.shape[1] == 0:
        return spread(scales, columns)
    return scales[:, np.arange(columns) // _side(columns, scales.shape[1])]
