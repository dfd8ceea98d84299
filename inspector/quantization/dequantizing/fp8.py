"""FP8: each weight times the scale of its tensor, of its row, or of its block.

`weight_scale_inv` is a factor like `weight_scale`: the inverse of what the weights were multiplied by.
"""

from __future__ import annotations

from math import prod

import numpy as np

from inspector.formats.decoding import MINI, Array, nibbles, table
from inspector.quantization.dequantizing.packed import Dequantized, Packed, spread
from inspector.quantization.levels import BF16, FLOAT4, Levels
from inspector.quantization.schemes.floats import FP8_SCALES


def dequantized(packed: Packed) -> Dequantized | None:
    """A weight with its scales; also 4-bit floats in bytes."""
    end, scale = packed.first(".weight", ""), packed.first(*FP8_SCALES)
    if end is None or scale is None:
        return None
    return scaled(packed, end, scale)


def scaled(packed: Packed, end: str, scale: str) -> Dequantized | None:
    """Rows times scales; None if the scales' shape fits neither tensor, rows nor blocks."""
    columns = packed.shape[-1] if len(packed.shape) > 1 else 1
    shape = packed.tensors[scale].shape
    pairs = packed.tensors[end].dtype in ("I8", "U8") and prod(packed.tensors[end].shape) * 2 == prod(packed.shape)
    if not _scales_fit(shape, packed.shape):
        return None

    def rows(first: int, last: int) -> Array:
        values = packed.rows(end, first, last) if columns > 1 else packed.part(end, first, last)[:, None]
        if pairs:
            values = table("F4")[nibbles(values.view(np.uint8))]
        return values.astype(np.float32) * scales_of(packed, scale, first, last)

    dtype = packed.tensors[end].dtype

    def levels(first: int, last: int) -> Levels:
        scales = np.broadcast_to(scales_of(packed, scale, first, last), (last - first, columns)).reshape(-1)
        codes = FLOAT4 if pairs else tuple(np.unique(table(dtype)[np.isfinite(table(dtype))]).tolist())
        return Levels(scales, None, 1, codes, BF16)

    return Dequantized(packed.shape, rows, levels if pairs or dtype in MINI else None)


def _scales_fit(scale: tuple[int, ...], weight: tuple[int, ...]) -> bool:
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
    for axis, size in enumerate(weight[:-1]):  # to one scale per row, each axis separately
        if scales.shape[axis] not in (1, size):
            scales = np.take(
                scales, _block_of_positions(size, scales.shape[axis], _declared_side(packed, axis)), axis=axis
            )
    wide = np.broadcast_to(scales, (*weight[:-1], scales.shape[-1])).reshape(-1, scales.shape[-1])[first:last]
    columns, groups = weight[-1], scales.shape[-1]
    if packed.tensors[end].shape[:-1] == weight[:-1] and columns % groups == 0:  # groups within each row
        return spread(wide, columns)
    found: Array = wide[:, _block_of_positions(columns, groups, _declared_side(packed, len(weight) - 1))]
    return found


def _declared_side(packed: Packed, axis: int) -> int | None:
    """The side of a block along one of the last two axes, from `weight_block_size`."""
    sides, at = packed.values.get("weight_block_size"), axis - len(packed.shape)
    if not isinstance(sides, (list, tuple)) or len(sides) != 2 or at < -2:
        return None
    return sides[at] if isinstance(sides[at], int) and sides[at] > 0 else None


def _block_of_positions(size: int, blocks: int, declared: int | None) -> Array:
    """The block of each position: of the declared side, else a power of two, the last one shorter; else equal parts."""
    side = declared or 1 << (-(-size // blocks) - 1).bit_length()
    if -(-size // side) != blocks:
        side = -(-size // blocks)
    return np.arange(size) // side
