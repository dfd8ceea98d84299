"""The dtypes of safetensors, and the bytes that a shape takes."""

from __future__ import annotations

from math import prod
from typing import Any

#: Offsets are 64 bits wide, of which one is never used.
MAX_OFFSET = 2**63

#: Bits per element, by the format's own names.
DTYPE_BITS: dict[str, int] = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}


def expected_bytes(dtype: str, shape: tuple[Any, ...]) -> int | None:
    """Bytes of a tensor; None if its dtype or shape do not determine them."""
    if dtype not in DTYPE_BITS or not all(type(dim) is int and dim >= 0 for dim in shape):
        return None
    # The reference counts in 64 bits, dimension by dimension; a zero does not hide an overflow there.
    if overflows(shape):
        return None
    nbits = prod(shape) * DTYPE_BITS[dtype]
    return None if nbits % 8 or nbits >= 2**64 else nbits // 8


def overflows(shape: tuple[int, ...]) -> bool:
    """Whether the running product exceeds 64 bits, as in the reference's checked multiplication."""
    product = 1
    for dim in shape:
        product *= dim
        if product >= 2**64 or dim >= 2**64:
            return True
    return False
