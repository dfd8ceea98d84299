"""bitsandbytes: a code book's entry times the block's largest value, or an 8-bit integer times its row's over 127.

4 bits: the upper half of a byte comes first. If the scales are quantized as well, each is an entry of a second code
book times its block's scale, plus an offset (`quantize_4bit` and `dequantize_blockwise` in `functional.py`).
"""

from __future__ import annotations

import json
from math import prod
from typing import Any

import numpy as np

from inspector.formats.decoding import Array
from inspector.quantization.dequantizing.packed import Dequantized, Packed
from inspector.quantization.levels import TIE, Levels

#: Codes of 8 bits are computed in F16: the factor is rounded, and their product.
IN_HALVES = 2.0**-10
_STATES = (".weight.quant_state.bitsandbytes__nf4", ".weight.quant_state.bitsandbytes__fp4")


def dequantized(packed: Packed) -> Dequantized | None:
    """A weight of 8 bits with a scale per row, or of 4 bits with its state, which contains its shape."""
    if ".SCB" in packed:
        return Dequantized(
            packed.shape,
            lambda first, last: _int8_rows(packed, first, last),
            lambda first, last: _int8_levels(packed, first, last),
        )
    end = packed.first(*_STATES)
    if end is None or ".weight.quant_map" not in packed or packed.tensors[".weight"].dtype != "U8":
        return None
    state = _parsed_state(packed.whole(end))
    shape, size = _checked_shape(state.get("shape")), state.get("blocksize")
    if prod(shape) != prod(packed.shape) or not isinstance(size, int) or size < 1:
        return None
    scales = _scales_of_blocks(packed, state)
    columns = shape[-1] if len(shape) > 1 else 1

    def rows(first: int, last: int) -> Array:
        start, stop = first * columns, last * columns
        packs = packed.part(".weight", start // 2, -(-stop // 2))
        codes = np.stack((packs >> 4, packs & 15), axis=-1).reshape(-1)[start % 2 :][: stop - start]
        values = packed.whole(".weight.quant_map")[codes] * scales[np.arange(start, stop) // size]
        return values.reshape(-1, columns)

    loose = TIE + _off_of_scales(packed, state) / np.maximum(np.abs(scales), 1e-30)

    def levels(first: int, last: int) -> Levels:
        codes = tuple(np.unique(packed.whole(".weight.quant_map").astype(np.float32)).tolist())  # FP4 has two zeros
        block = np.arange(first * columns, last * columns) // size
        return Levels(scales[block], None, 1, codes, loose[block])

    return Dequantized(shape, rows, levels)


def _int8_rows(packed: Packed, first: int, last: int) -> Array:
    values = packed.rows(".weight", first, last).astype(np.float32)
    values *= packed.whole(".SCB")[first:last, None] / np.float32(127)
    return values


def _int8_levels(packed: Packed, first: int, last: int) -> Levels:
    scales = np.repeat(packed.whole(".SCB")[first:last] / np.float32(127), packed.shape[-1])
    return Levels(scales, None, 1, (-127, 127), IN_HALVES)


def _parsed_state(stored: Array) -> dict[str, Any]:
    try:
        state = json.loads(stored.astype(np.uint8).tobytes())
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def _checked_shape(shape: Any) -> tuple[int, ...]:
    """A shape; empty if it is not a list of sizes."""
    if not isinstance(shape, list) or not all(type(size) is int and size > 0 for size in shape):
        return ()
    return tuple(shape)


def _scales_of_blocks(packed: Packed, state: dict[str, Any]) -> Array:
    """One scale per block."""
    scales = packed.whole(".weight.absmax").reshape(-1)
    if ".weight.nested_absmax" not in packed:
        return scales.astype(np.float32)
    outer, codes = packed.whole(".weight.nested_absmax"), packed.whole(".weight.nested_quant_map")
    block = np.arange(len(scales)) // int(state.get("nested_blocksize") or 256)
    found: Array = codes[scales] * outer[block] + np.float32(state.get("nested_offset") or 0)
    return found


def _off_of_scales(packed: Packed, state: dict[str, Any]) -> Array:
    """How far each block's scale may be from the one that the codes were computed with: half a gap of its code book."""
    scales = packed.whole(".weight.absmax").reshape(-1)
    if ".weight.nested_absmax" not in packed:
        return np.zeros(len(scales), np.float32)
    outer, codes = packed.whole(".weight.nested_absmax"), packed.whole(".weight.nested_quant_map")
    gaps = np.abs(np.diff(codes, prepend=codes[:1], append=codes[-1:]))
    block = np.arange(len(scales)) // int(state.get("nested_blocksize") or 256)
    found: Array = np.maximum(gaps[:-1], gaps[1:])[scales] / 2 * np.abs(outer[block])
    return found
