"""EETQ: int8 in the order of CUTLASS's kernels.

weight I8 [I, O]    weight_scales F16 [O]
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    weight, scales = unit.pieces.get(".weight"), unit.pieces.get(".weight_scales")
    if weight is None or scales is None or weight.dtype != "I8" or len(weight.shape) != 2:
        return None
    return Weight(".weight", (weight.shape[1], weight.shape[0]), 8)


SCHEME = Scheme(
    name="eetq",
    methods=frozenset({"eetq"}),
    side={".weight_scales": "scales"},
    unpack=_unpack,
    needs=always(".weight_scales"),
)
