"""How far a stored number may be from its original: one step of its dtype, block type or scheme.

    step_of("BF16")(values)     2⁻⁷ of each value
    step_of("Q4_K")(values)     2/15 of the largest of each 32, and what the 6-bit scales of 256 add

A whole step, not the half of rounding to nearest: quantizers choose scales that minimise the sum of squares and clip
the outermost values, and some converters truncate floats. The caller judges the steps of a whole tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from inspector.formats.decoding import Array
from inspector.formats.ggml import TYPES

Step = Callable[[Array], Array]


class Grid(NamedTuple):
    """Numbers that share a scale, and scales that share another."""

    group: int  # elements that share a scale
    step: float  # the largest gap between neighbours, as a share of the grid's range on one side of zero
    whole: int = 0  # elements whose scales are quantized together; 0 if they are not
    scales: float = 0.0  # the step of these scales, likewise
    units: float = 0.0  # the largest number in units of the float that scales it; 0 if that float is never too small
    least: float = 2.0**-24  # the smallest step of that float's dtype: F16's
    normal: float = 2.0**-14  # below this number all its steps are equal


#: Dtype → bits of the mantissa, and the exponent of the smallest step.
FLOATS: Mapping[str, tuple[int, int]] = {
    "F64": (52, -1074),
    "F32": (23, -149),
    "F16": (10, -24),
    "BF16": (7, -133),
    "F8_E4M3": (3, -9),
    "F8_E5M2": (2, -16),
    "F8_E4M3FNUZ": (3, -10),
    "F8_E5M2FNUZ": (2, -17),
}

#: GGUF's block types, after ggml/src/ggml-quants.c: grids from −max to max, or from min to max (twice as wide at most).
GRIDS: Mapping[str, Grid] = {
    "Q4_0": Grid(32, 1 / 7, units=8),  # −8 to 7: the last step is clipped if the maximum is positive
    "Q4_1": Grid(32, 2 / 15, units=15),
    "Q5_0": Grid(32, 1 / 15, units=16),
    "Q5_1": Grid(32, 2 / 31, units=31),
    "Q8_0": Grid(32, 1 / 127, units=127),
    "Q8_1": Grid(32, 1 / 127),
    "Q8_K": Grid(256, 1 / 127),
    "Q2_K": Grid(16, 2 / 3, 256, 2 / 15, units=3 * 15),
    "Q3_K": Grid(16, 1 / 3, 256, 1 / 31, units=4 * 32),
    "Q4_K": Grid(32, 2 / 15, 256, 2 / 63, units=15 * 63),
    "Q5_K": Grid(32, 2 / 31, 256, 2 / 63, units=31 * 63),
    "Q6_K": Grid(16, 1 / 31, 256, 1 / 127, units=32 * 128),
    "IQ4_NL": Grid(32, 24 / 127, units=127),
    "IQ4_XS": Grid(32, 24 / 127, 256, 1 / 31, units=127 * 32),
    # Four or eight numbers are one code: what is nearest to all is not nearest to each.
    "IQ3_S": Grid(32, 0.4, 256, 2 / 15, units=15 * 31),
    # Of eight signs an even number is negative: if that was odd, the smallest number gets the wrong sign.
    "IQ3_XXS": Grid(32, 0.75, 256, 2 / 15, units=62 * 31 / 4),
    "IQ2_S": Grid(16, 2 / 3, 256, 2 / 15, units=43 * 31 / 8),
    "IQ2_XS": Grid(16, 1.0, 256, 2 / 15, units=43 * 31 / 8),
    "IQ2_XXS": Grid(32, 1.0, 256, 2 / 15, units=43 * 31 / 8),
    "IQ1_S": Grid(32, 1.75, 256, 2 / 7, units=17),
    "IQ1_M": Grid(16, 1.75, 256, 2 / 7, units=17),
    "TQ1_0": Grid(256, 1.0),
    "TQ2_0": Grid(256, 1.0),
    "MXFP4": Grid(32, 1 / 3, 32, 1 / 16),  # a power of two as scale: values above the grid are clipped
    "NVFP4": Grid(16, 1 / 3, 16, 1 / 4, 6, 2.0**-9, 2.0**-6),  # a scale with a three-bit mantissa
}

#: Words of schemes' names whose grid has unequal steps → its largest gap.
GAPS: Mapping[str, float] = {"nf4": 0.304, "fp4": 1 / 3, "mxfp4": 1 / 3, "nvfp4": 1 / 3}
#: Likewise for eight-bit floats: each number is rounded separately, and values small for their scale are lost.
SCALED = frozenset({"fp8", "float", "float8", "mxfp8"})
_UNSCALED = 2.0**-9 / 448  # the smallest step of F8_E4M3 relative to its largest number


def step_of(dtype: str, bits: int = 0, group: int | None = None, largest: float | None = None) -> Step | None:
    """A function from values to steps; None if the dtype is unknown.

    The function takes whole groups (`group_of`) in the file's order.

    Args:
        dtype: a dtype, a block type, or a packing scheme, with its `bits` and elements per scale.
        largest: the largest magnitude of a packed weight with a single scale.
    """
    if dtype in FLOATS:
        mantissa, least = FLOATS[dtype]
        return lambda values: np.abs(values) * np.float32(2.0**-mantissa) + np.float32(max(2.0**least, 1e-45))
    if dtype in GRIDS:
        return _steps_on(GRIDS[dtype])
    words = frozenset(dtype.split("-"))
    if words & SCALED:
        return lambda values: np.abs(values) * np.float32(2**-3) + np.float32(_UNSCALED) * _largest_of(values, largest)
    gap = next((gap for name, gap in GAPS.items() if name in words), None)
    if gap is None and 1 <= bits <= 8:
        gap = 2 / (2**bits - 1)
    if gap is not None and largest is not None:
        step = np.float32(gap * largest)
        return lambda values: np.full_like(values, step)
    if gap is None:
        return None
    return _steps_on(Grid(group or 1, gap, units=0 if words & GAPS.keys() else 2 / gap))


def _largest_of(values: Array, largest: float | None) -> Any:
    return np.float32(np.max(np.abs(values)) if largest is None else largest)


def spacing(values: Array, dtype: str) -> Array | None:
    """The distance from each value to the dtype's next; None if it is not a float. Rounding adds at most half."""
    if dtype not in FLOATS:
        return None
    mantissa, least = FLOATS[dtype]
    exponents = np.maximum(np.frexp(values)[1] - 1 - mantissa, max(least, -149))
    found: Array = np.ldexp(np.float32(1), exponents)
    return found


def group_of(dtype: str, group: int | None = None) -> int:
    """Elements whose steps are computed together."""
    if dtype in GRIDS:
        return GRIDS[dtype].whole or GRIDS[dtype].group
    kind = next((kind for kind in TYPES.values() if kind.name == dtype), None)
    return kind.block if kind else group or 1


def _steps_on(grid: Grid) -> Step:
    def steps(values: Array) -> Array:
        size = np.abs(values)
        found: Array = _maximum_of_group(size, grid.group) * np.float32(grid.step)
        if grid.units:
            found += _error_of_small_scales(size, grid)
        if grid.whole:
            found += _maximum_of_group(size, grid.whole) * np.float32(grid.scales)
        return found

    return steps


def _error_of_small_scales(sizes: Array, grid: Grid) -> Array:
    """The further error where the float that scales a block is so small that its own rounding shows.

    It is proportional to the numbers. In a block of zeros, the scale itself may have been rounded to zero.
    """
    scales = _maximum_of_group(sizes, grid.whole or grid.group) / np.float32(grid.units)
    if not len(scales) or scales.min() >= grid.normal:
        return np.zeros_like(sizes)
    error = sizes * np.float32(grid.least) / np.maximum(scales, np.float32(grid.least / 2))
    vanished = np.where(scales > 0, error, np.float32(grid.units * grid.least / 2))
    found: Array = np.where(scales < grid.normal, vanished, np.float32(0))
    return found


def _maximum_of_group(sizes: Array, group: int) -> Array:
    """The maximum of its group, for each element; the last group may be shorter."""
    total = len(sizes)
    if total % group:
        sizes = np.concatenate([sizes, np.zeros(group - total % group, sizes.dtype)])
    largest = sizes.reshape(-1, group).max(axis=1)
    repeated: Array = np.repeat(largest, group)
    return repeated[:total]
