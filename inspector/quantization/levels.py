"""The levels that stored numbers can take, and so how far each may be from its original.

    room(levels_of_blocks(raw, "Q4_K"), values) → how far below and above each value its original may have been

Quantizers compute each number last, with the scale that they store: it is the level nearest to the original, or the
outermost one. `ggml-quants.c` does so for all of the types here, but with an importance matrix, where the codes of
`TRIED` are computed with one of several scales before the stored one is fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from inspector.formats.decoding import Array
from inspector.quantization.precision import spacing


class Levels(NamedTuple):
    """The numbers that some values can be: `offset + scale · code`."""

    scale: Array  # of each group; may be negative
    offset: Array | None  # of each group; None for 0
    group: int  # values that share a scale
    codes: tuple[float, ...]  # ascending: the lowest and the highest of consecutive ones, or all of them
    loose: float | Array = (
        0.0  # how far the scale that codes were computed with may be from the stored one, relatively;
    )
    # of each group, or of all
    least: float = 0.0  # the same absolutely, for each code: where a float's own steps are that large

    def part(self, start: int, stop: int) -> Levels:
        """Those of some values; groups must be of one."""
        return self._replace(
            scale=self.scale[start:stop],
            offset=None if self.offset is None else self.offset[start:stop],
            loose=self.loose[start:stop] if isinstance(self.loose, np.ndarray) else self.loose,
        )


#: A tie may be rounded either way, and is computed in F32: in steps.
TIE = 2e-4
#: BF16's relative rounding error.
BF16 = 2.0**-9
#: F16's relative rounding error, and that of its smallest numbers.
F16, F16_LEAST = 2.0**-11, 2.0**-25
#: The 4-bit float's values.
FLOAT4 = (-6.0, -4.0, -3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_IQ4 = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def _f16(blocks: Array, at: int) -> Array:
    return np.ascontiguousarray(blocks[:, at : at + 2]).view(np.float16).astype(np.float32)


def _simple(lowest: int, highest: int, *, with_offset: bool = False) -> Callable[[Array], Levels]:
    """Blocks of 32 with a scale in F16, and perhaps the least of them."""

    def levels(blocks: Array) -> Levels:
        offset = _f16(blocks, 2).reshape(-1) if with_offset else None
        return Levels(_f16(blocks, 0).reshape(-1), offset, 32, (lowest, highest), F16, F16_LEAST)

    return levels


def _k_scales(packed: Array) -> tuple[Array, Array]:
    """Q4_K's and Q5_K's eight scales and minima of six bits, in twelve bytes (`get_scale_min_k4`)."""
    low, middle, high = packed[:, :4], packed[:, 4:8], packed[:, 8:12]
    scales = np.concatenate([low & 63, (high & 15) | (low >> 2 & 48)], axis=1)
    minima = np.concatenate([middle & 63, (high >> 4) | (middle >> 2 & 48)], axis=1)
    return scales.astype(np.float32), minima.astype(np.float32)


def _q4_k(highest: int) -> Callable[[Array], Levels]:
    def levels(blocks: Array) -> Levels:
        scales, minima = _k_scales(blocks[:, 4:16])
        return Levels((_f16(blocks, 0) * scales).reshape(-1), -(_f16(blocks, 2) * minima).reshape(-1), 32, (0, highest))

    return levels


def _q2_k(blocks: Array) -> Levels:
    packed = blocks[:, :16]
    scale, least = _f16(blocks, 80) * (packed & 15), _f16(blocks, 82) * (packed >> 4)
    return Levels(scale.reshape(-1), -least.reshape(-1), 16, (0, 3))


def _q3_k(blocks: Array) -> Levels:
    packed = blocks[:, 96:108]
    low = np.concatenate([packed[:, :8] & 15, packed[:, :8] >> 4], axis=1)
    high = np.concatenate([packed[:, 8:] >> shift & 3 for shift in (0, 2, 4, 6)], axis=1)
    scale = _f16(blocks, 108) * ((low | high << 4).astype(np.float32) - 32)
    return Levels(scale.reshape(-1), None, 16, (-4, 3))


def _q6_k(blocks: Array) -> Levels:
    scale = _f16(blocks, 208) * blocks[:, 192:208].view(np.int8).astype(np.float32)
    return Levels(scale.reshape(-1), None, 16, (-32, 31))


def _iq4_nl(blocks: Array) -> Levels:
    return Levels(_f16(blocks, 0).reshape(-1), None, 32, _IQ4, F16, F16_LEAST)


def _iq4_xs(blocks: Array) -> Levels:
    high = np.ascontiguousarray(blocks[:, 2:4]).view("<u2")
    low = np.stack([blocks[:, 4:8] & 15, blocks[:, 4:8] >> 4], axis=2).reshape(-1, 8)
    upper = (high >> np.arange(0, 16, 2, dtype=np.uint16) & 3).astype(np.uint8)
    scale = _f16(blocks, 0) * ((low | upper << 4).astype(np.float32) - 32)
    return Levels(scale.reshape(-1), None, 32, _IQ4, F16, F16_LEAST * 32)


def _mxfp4(blocks: Array) -> Levels:
    return Levels(np.ldexp(np.float32(1), blocks[:, 0].astype(np.int32) - 127), None, 32, FLOAT4)


def _ternary(at: int) -> Callable[[Array], Levels]:
    return lambda blocks: Levels(_f16(blocks, at).reshape(-1), None, 256, (-1, 1), F16, F16_LEAST)


#: Type → the levels of each block's bytes, from the structs of `ggml-common.h`.
BLOCKS: Mapping[str, Callable[[Array], Levels]] = {
    "Q4_0": _simple(-8, 7),
    "Q4_1": _simple(0, 15, with_offset=True),
    "Q5_0": _simple(-16, 15),
    "Q5_1": _simple(0, 31, with_offset=True),
    "Q8_0": _simple(-128, 127),
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": _q4_k(15),
    "Q5_K": _q4_k(31),
    "Q6_K": _q6_k,
    "IQ4_NL": _iq4_nl,
    "IQ4_XS": _iq4_xs,
    "MXFP4": _mxfp4,
    "TQ1_0": _ternary(52),
    "TQ2_0": _ternary(64),
}


#: Those with equal gaps.
UNIFORM = frozenset(BLOCKS) - {"IQ4_NL", "IQ4_XS", "MXFP4"}


def half(levels: Levels, values: Array) -> Array:
    """Half of a gap for each value, and what the scale may be off by: the room but for the outermost levels."""
    gaps = np.abs(levels.scale) * np.float32(0.5 + TIE)
    if levels.loose:
        gaps += np.float32(levels.least * max(map(abs, levels.codes)))
        gaps += 0 if levels.offset is None else np.abs(levels.offset) * np.float32(levels.loose)
    found: Array = np.repeat(gaps, levels.group)[: len(values)]
    if levels.loose:
        slack = np.abs(values)
        slack *= np.float32(levels.loose)
        found += slack
    return found


def levels_of_blocks(raw: bytes, dtype: str, nbytes: int) -> Levels:
    """The levels of whole blocks of `nbytes` bytes each, of a type in `BLOCKS`."""
    return BLOCKS[dtype](np.frombuffer(raw, np.uint8).reshape(-1, nbytes))


def levels_of_float(values: Array, dtype: str) -> tuple[Array, Array] | None:
    """The room of numbers rounded to a float; None if the dtype is none."""
    gap = spacing(values, dtype)
    if gap is None:
        return None
    half = gap * np.float32(0.5 + TIE)
    return half, half


def room(levels: Levels, values: Array) -> tuple[Array, Array]:
    """How far below, and how far above, each value its original may have been.

    Args:
        values: in the file's order, whole groups.
    """
    scale = np.repeat(levels.scale, levels.group)[: len(values)]
    offset = None if levels.offset is None else np.repeat(levels.offset, levels.group)[: len(values)]
    below, above = (_uniform if len(levels.codes) == 2 else _uneven)(levels, values, scale, offset)
    if np.any(levels.loose):
        slack = np.abs(values) if offset is None else np.abs(values) + np.abs(offset)
        loose = np.asarray(levels.loose, np.float32)
        slack *= loose
        slack += np.float32(levels.least * max(map(abs, levels.codes)))
        if len(levels.codes) > 2:  # the middle to the next level is off by as much of itself
            below *= 1 + loose
            above *= 1 + loose
        below += slack
        above += slack
    return below, above


def _uniform(levels: Levels, values: Array, scale: Array, offset: Array | None) -> tuple[Array, Array]:
    size = np.abs(scale)
    below = size * np.float32(0.5 + TIE)
    above = below.copy()
    ends = [scale * np.float32(code) for code in levels.codes]
    if offset is not None:
        ends = [end + offset for end in ends]
    below[values <= np.minimum(*ends) + size / 4] = np.inf
    above[values >= np.maximum(*ends) - size / 4] = np.inf
    return below, above


def _uneven(levels: Levels, values: Array, scale: Array, offset: Array | None) -> tuple[Array, Array]:
    codes = np.array(levels.codes, np.float32)
    middle = (codes[1:] + codes[:-1]) / 2
    with np.errstate(all="ignore"):
        held = np.nan_to_num((values if offset is None else values - offset) / scale)
    at = np.searchsorted(middle, held)
    own, size = codes[at], np.abs(scale) * np.float32(1 + TIE)
    lower = (own - np.concatenate([[-np.inf], middle]).astype(np.float32)[at]) * size
    upper = (np.concatenate([middle, [np.inf]]).astype(np.float32)[at] - own) * size
    turned = scale < 0
    vanished = scale == 0
    below, above = np.where(turned, upper, lower), np.where(turned, lower, upper)
    below[vanished] = above[vanished] = np.inf
    return below, above


# --- codes that were computed before their scale -----------------------------------------------------


class Tried(NamedTuple):
    """The scales that a quantizer tries with an importance matrix (`make_qx_quants`, `make_qkx3_quants`)."""

    lowest: int
    highest: int
    tried: Array  # codes that the largest value, or the range of values, is mapped to
    with_offset: bool
    other: Array = np.empty(0)  # where the least value was fitted meanwhile, and the range with it


def _range(highest: int, start: float, step: float, count: int) -> Array:
    return np.append(highest + start + step * np.arange(count + 1), highest)


#: How far the stored scale is from the one that was tried, at most: what fitting it to the codes changes.
FITTED = 0.2
#: How many steps an original is from its value then, at most: 1.22 in sixteen files of llama.cpp's.
FURTHEST = 1.5

#: The types whose stored scale is fitted to the codes afterwards.
TRIED: Mapping[str, Tried] = {
    "Q4_0": Tried(-8, 7, 8 + np.arange(-9, 10) / 10, with_offset=False),
    "Q5_0": Tried(-16, 15, 16 + np.arange(-9, 10) / 10, with_offset=False),
    "Q4_1": Tried(0, 15, _range(15, -0.9, 0.05, 36), with_offset=True, other=np.linspace(11, 21, 200)),
    "Q5_1": Tried(0, 31, _range(31, -0.9, 0.05, 36), with_offset=True, other=np.linspace(24, 41, 300)),
}


def explained(originals: Array, values: Array, levels: Levels, tried: Tried) -> Array:
    """For each block of 32, whether its codes follow from its originals by one of the scales that are tried.

    Args:
        originals, values: of whole blocks, in the file's order.
    """
    x, y = originals.reshape(-1, 32), values.reshape(-1, 32)
    with np.errstate(all="ignore"):
        held = y if levels.offset is None else y - levels.offset[:, None]
        codes = np.rint(np.nan_to_num(held / levels.scale[:, None]))
    # What was fitted afterwards stays near; what was spoilt does not, though codes are as they were.
    near = (np.abs(x - y) <= FURTHEST * np.abs(levels.scale)[:, None]).all(axis=1)
    found: Array = (levels.scale == 0) | ~np.isfinite(x).all(axis=1)
    low = np.where(codes <= tried.lowest, -np.inf, codes - 0.5)
    high = np.where(codes >= tried.highest, np.inf, codes + 0.5)
    if tried.with_offset:
        width = x.max(axis=1) - np.minimum(x.min(axis=1), 0)
    else:
        width = -np.take_along_axis(x, np.abs(x).argmax(axis=1)[:, None], axis=1)[:, 0]
        found |= near & _is_between(x, width, levels.scale, low, high, tried.tried)
        return found
    for most in (*tried.tried, *tried.other):
        rest = np.flatnonzero(~found)
        if not rest.size:
            break
        with np.errstate(all="ignore"):
            mapped = x[rest] * (most / width[rest])[:, None]
        under, over = (low[rest] - mapped).max(axis=1), (high[rest] - mapped).min(axis=1)
        slack = TIE * 10
        fits = near[rest] & (np.abs(levels.scale[rest] * most / width[rest] - 1) < FITTED)
        found[rest] = fits & (under <= over + slack)
    return found


def _is_between(x: Array, width: Array, scale: Array, low: Array, high: Array, tried: Array) -> Array:
    """Whether one of the numbers to which the largest value is mapped has all of a block's values within their limits.

    Each value says from which to which number, so all together do.
    """
    with np.errstate(all="ignore"):
        share = x / width[:, None]
        share[share == 0] = 0.0  # not −0
        below, above = (low - TIE * 10) / share, (high + TIE * 10) / share
        turned = share < 0
        least = np.where(turned, above, below).max(axis=1)
        most = np.where(turned, below, above).min(axis=1)
        own = width / scale
        least, most = np.maximum(least, own * (1 - FITTED)), np.minimum(most, own * (1 + FITTED))
    numbers = np.append(np.sort(tried), np.inf)
    found: Array = (own > 0) & (numbers[np.searchsorted(numbers[:-1], least)] <= most)
    return found


def explained_blocks(values: Array, originals: Array, scale: Array, offset: Array, far: Array, dtype: str) -> Array:
    """The same for the blocks of 32 in which some element is far, of a type in `TRIED`; True for all others.

    Args:
        scale, offset: of each block.
    """
    chosen = np.flatnonzero(far.reshape(-1, 32).any(axis=1))
    found = np.ones(far.size // 32, bool)
    levels = Levels(scale[chosen], offset[chosen], 32, (0, 0))
    found[chosen] = explained(
        originals.reshape(-1, 32)[chosen].astype(np.float64), values.reshape(-1, 32)[chosen], levels, TRIED[dtype]
    )
    return found
