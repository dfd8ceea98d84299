"""Bytes of a tensor → its numbers, for every unpacked dtype.

Floats of at most 32 bits, integers of at most 16 and booleans become float32, everything wider float64; both are exact
except for 64-bit integers beyond 2**53. Complex numbers become alternating real and imaginary parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class MiniFloat(NamedTuple):
    """A float of at most 8 bits: sign, exponent, mantissa."""

    exponent: int  # bits
    mantissa: int  # bits
    bias: int
    #: Which patterns are not finite: "ieee" the highest exponent, "fn" only all ones (NaN), "fnuz" only the negative
    #: zero (NaN), "none" no pattern.
    special: str
    signed: bool = True


#: FP8 as in "FP8 Formats for Deep Learning" (E5M2, E4M3) and in LLVM's `APFloat` (FNUZ); the others as in the OCP
#: Microscaling specification, section 5.3.
MINI: Mapping[str, MiniFloat] = {
    "F8_E4M3": MiniFloat(4, 3, 7, "fn"),
    "F8_E5M2": MiniFloat(5, 2, 15, "ieee"),
    "F8_E4M3FNUZ": MiniFloat(4, 3, 8, "fnuz"),
    "F8_E5M2FNUZ": MiniFloat(5, 2, 16, "fnuz"),
    "F6_E2M3": MiniFloat(2, 3, 1, "none"),
    "F6_E3M2": MiniFloat(3, 2, 3, "none"),
    "F4": MiniFloat(2, 1, 1, "none"),
}

#: NumPy's names for the dtypes it supports, little-endian.
NATIVE: Mapping[str, str] = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "u1",
    "QI32": "<i4",
    "QI8": "i1",
    "QU8": "u1",
    "C32": "<f2",
    "C64": "<f4",
    "C128": "<f8",
}
#: Dtypes with two numbers per element.
COMPLEX = frozenset({"C32", "C64", "C128"})
#: Dtypes with several elements per byte → elements and bytes of the smallest whole unit.
UNITS: Mapping[str, tuple[int, int]] = {"F4": (2, 1), "F6_E2M3": (4, 3), "F6_E3M2": (4, 3)}


def is_known(dtype: str) -> bool:
    """Whether `decoded` has a definition of the dtype."""
    return dtype in NATIVE or dtype in MINI or dtype in ("BF16", "F8_E8M0")


def width(dtype: str) -> int:
    """Bytes of an element; for dtypes in `UNITS`, of the smallest unit."""
    if dtype in UNITS:
        return UNITS[dtype][1]
    if dtype in NATIVE:
        return np.dtype(NATIVE[dtype]).itemsize * (2 if dtype in COMPLEX else 1)
    return 2 if dtype == "BF16" else 1


def has_patterns(dtype: str) -> bool:
    """Whether each element has at most 16 bits and shares no byte: few enough patterns to count each."""
    return is_known(dtype) and dtype not in UNITS and dtype not in COMPLEX and width(dtype) <= 2


@cache
def patterns(dtype: str) -> Array:
    """The value of each bit pattern of a dtype that `has_patterns`."""
    return decoded(np.arange(1 << 8 * width(dtype), dtype="u1" if width(dtype) == 1 else "<u2").tobytes(), dtype)


def native(data: Any, dtype: str, *, big: bool = False) -> Array:
    """The numbers of a dtype that NumPy supports, unconverted: a view if the machine's byte order is the data's."""
    kind = np.dtype(NATIVE[dtype])
    return np.frombuffer(data, kind.newbyteorder(">") if big else kind)


def decoded(data: Any, dtype: str, *, big: bool = False) -> Array:
    """The numbers in a buffer of whole elements, in order; one dimension.

    Args:
        big: whether the bytes are big-endian.
    """
    if dtype == "BF16":
        return widened(np.frombuffer(data, ">u2" if big else "<u2"))
    if dtype in NATIVE:
        numbers = native(data, dtype, big=big)
        return numbers.astype(np.float64 if _is_wide(dtype) else np.float32)
    return _SMALL[dtype](np.frombuffer(data, np.uint8)) if dtype in _SMALL else table(dtype)[np.frombuffer(data, "u1")]


def _is_wide(dtype: str) -> bool:
    kind = np.dtype(NATIVE[dtype])
    return kind.itemsize == 8 or (kind.itemsize == 4 and kind.kind != "f")


def widened(bits: Array) -> Array:
    """BF16 as float32: its bits are the upper half of that number's."""
    wide = np.empty(bits.shape, np.uint32)
    np.left_shift(bits, 16, out=wide, dtype=np.uint32, casting="unsafe")
    return wide.view(np.float32)


@cache
def table(dtype: str) -> Array:
    """The value of each bit pattern of a small float, as float32."""
    if dtype == "F8_E8M0":  # powers of two from 2^-127 to 2^127, and NaN
        powers: Array = np.ldexp(np.float32(1), np.minimum(np.arange(256), 254) - 127)
        powers[255] = np.nan
        return powers
    kind = MINI[dtype]
    bits = np.arange(1 << (1 + kind.exponent + kind.mantissa))
    exponent = bits >> kind.mantissa & (1 << kind.exponent) - 1
    mantissa = bits & (1 << kind.mantissa) - 1
    whole = mantissa + np.where(exponent > 0, 1 << kind.mantissa, 0)
    values = np.ldexp(whole.astype(np.float64), np.maximum(exponent, 1) - kind.bias - kind.mantissa)
    negative = bits >> (kind.exponent + kind.mantissa) == 1
    values = np.where(negative, -values, values)
    top = exponent == (1 << kind.exponent) - 1
    if kind.special == "ieee":
        values = np.where(top, np.where(mantissa > 0, np.nan, np.where(negative, -np.inf, np.inf)), values)
    elif kind.special == "fn":
        values = np.where(top & (mantissa == (1 << kind.mantissa) - 1), np.nan, values)
    elif kind.special == "fnuz":
        values = np.where(bits == 1 << (kind.exponent + kind.mantissa), np.nan, values)
    found: Array = values.astype(np.float32)
    return found


def nibbles(packed: Array) -> Array:
    """Two 4-bit numbers per byte, the lower half first; the last dimension doubles."""
    both = np.stack((packed & 15, packed >> 4), axis=-1)
    return both.reshape(*packed.shape[:-1], -1)


def _fours(packed: Array) -> Array:
    return table("F4")[nibbles(packed)]


def sixes(packed: Array) -> Array:
    """Four 6-bit numbers in three bytes, the lowest bits first; one dimension."""
    low, middle, high = (packed[start::3].astype(np.uint32) for start in range(3))
    word = low | middle << 8 | high << 16
    return np.stack([word >> shift & 63 for shift in (0, 6, 12, 18)], axis=-1).reshape(-1)


_SMALL: Mapping[str, Callable[[Array], Array]] = {
    "F4": _fours,
    "F6_E2M3": lambda packed: table("F6_E2M3")[sixes(packed)],
    "F6_E3M2": lambda packed: table("F6_E3M2")[sixes(packed)],
}
