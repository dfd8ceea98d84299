"""Explains bytes that are not plausible numbers: finds the change after which they would be."""

from __future__ import annotations

from typing import Any

import numpy as np

from inspector.formats import decoding

#: The interquartile range of plausible numbers, in powers of two, and how far the largest may be above the median.
SANE, REACH = 4.0, 14.0
#: The least numbers needed to judge that.
LEAST = 32


def repair(raw: bytes, dtype: str, start: int) -> str | None:
    """Describes what happened to part of a tensor: bytes swapped, or shifted.

    Args:
        start: the number of the part's first byte in the tensor.
    """
    width = decoding.width(dtype)
    if width < 2 or dtype not in ("BF16", "F16", "F32", "F64"):
        return None
    data = np.frombuffer(raw, np.uint8)
    data = data[-start % width :]
    data = data[: data.size // width * width]
    ways = {0: data, -1: data.reshape(-1, width)[:, ::-1].reshape(-1)}
    ways |= {shift: data[shift : shift - width] for shift in range(1, width)}
    spreads = {way: spread for way, bytes_ in ways.items() if (spread := _spread(bytes_, dtype)) is not None}
    best = min(spreads, key=lambda way: spreads[way], default=0)
    if not best:
        return None
    if best < 0:
        return "they are plausible with the bytes of each number swapped, as big-endian data would be"
    return f"they are plausible if shifted by {best} of a number's {width} bytes: bytes were lost or inserted"


def _spread(data: Any, dtype: str) -> float | None:
    """The interquartile range of the numbers; None if they are not plausible."""
    with np.errstate(all="ignore"):
        values = decoding.decoded(np.ascontiguousarray(data).tobytes(), dtype).astype(np.float64)
    size = np.abs(values[values != 0])
    if size.size < LEAST or not np.isfinite(size).all():
        return None
    low, middle, high = np.percentile(np.log2(size), (25, 50, 75))
    is_sane = high - low < SANE and np.log2(size.max()) - middle < REACH
    return float(high - low) if is_sane else None
