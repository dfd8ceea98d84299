"""Packed weights → their numbers. One module per scheme, of its name, if its arithmetic is defined.

    dequantized(packed) → the weight's logical shape, and a function from rows to float32

Needs NumPy, which only the extra `data` installs: imported only when values are requested.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from inspector.quantization.dequantizing.packed import Dequantized, Packed

__all__ = ["Dequantized", "Packed", "dequantized"]


def dequantized(scheme: str, packed: Packed) -> Dequantized | None:
    """How to compute a packed weight's numbers; None for schemes and layouts without a definition here.

    Args:
        scheme: the scheme's name without its variant: "gptq".
    """
    name = f"{__name__}.{scheme.replace('-', '_')}"
    if find_spec(name) is None:
        return None
    found: Dequantized | None = import_module(name).dequantized(packed)
    return found
