"""BitNet: weights of −1, 0 and 1, four to a byte.

    weight U8 [O/4, I]    weight_scale [1]

1.58 bits of information, 2 bits as stored.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, count


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    weight, scale = unit.pieces.get(".weight"), unit.pieces.get(".weight_scale")
    if weight is None or scale is None or weight.dtype != "U8" or len(weight.shape) != 2 or count(scale) != 1:
        return None
    return Weight(".weight", (weight.shape[0] * 4, weight.shape[1]), 2)


SCHEME = Scheme(
    name="bitnet",
    methods=frozenset({"bitnet"}),
    side={".weight_scale": "scales"},
    unpack=_unpack,
    needs=always(".weight_scale"),
)
