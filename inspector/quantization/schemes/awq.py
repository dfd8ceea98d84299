"""AWQ, as AutoAWQ writes it: 4 bits, four layouts of the same weights.

gemm        qweight I32 [I, O/8]      qzeros I32 [I/g, O/8]    scales F16 [I/g, O]
gemv        qweight I32 [O, I/8]      qzeros I32 [O, …]        scales F16 [O, …], widened to a multiple
gemv_fast   qweight I16 [O/4, I]      qzeros F16 […, O]        scales F16 […, O]
marlin      qweight I32 [I/16, 2·O]   qzeros I32 [I/g, O/8]    scales F16 [I/g, O]
"""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import (
    AUTO_ROUND,
    COMMON_BITS,
    Declared,
    Scheme,
    Unit,
    Weight,
    by_suffix,
    group_of,
    packed_elements,
)


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed, scales = unit.pieces.get(".qweight"), unit.pieces.get(".scales")
    if packed is None or scales is None or len(packed.shape) != 2 or len(scales.shape) != 2 or not all(packed.shape):
        return None
    bits = declared.number("bits", "w_bit")
    bits = bits if bits in COMMON_BITS else 4
    outputs, variant = _outputs_and_layout(packed, scales, bits)
    if not outputs or packed_elements(packed, bits) % outputs:
        return None
    inputs = packed_elements(packed, bits) // outputs
    group = declared.number("group_size", "q_group_size") or group_of(inputs, scales.shape[0])
    return Weight(".qweight", (outputs, inputs), bits, group, variant)


def _outputs_and_layout(packed: Tensor, scales: Tensor, bits: int) -> tuple[int | None, str]:
    """The layer's output width, and the layout that shows it."""
    per_int = 32 // bits
    if packed.dtype == "I16":
        return (packed.shape[0] * 4, "gemv_fast") if scales.shape[1] == packed.shape[0] * 4 else (None, "")
    if packed.dtype != "I32":
        return None, ""
    if packed.shape[1] * per_int == scales.shape[1]:
        return scales.shape[1], "gemm"
    # If both are equal, the layout is GPTQ's at 2 bits.
    if packed.shape[1] == scales.shape[1] * 16 // per_int != scales.shape[1]:
        return scales.shape[1], "marlin"
    if packed.shape[0] == scales.shape[0]:
        return packed.shape[0], "gemv"
    return None, ""


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """AutoAWQ's Marlin layout is symmetric, without zero points."""
    return ".scales" if weight.variant == "marlin" else ".scales .qzeros"


SCHEME = Scheme(
    name="awq",
    methods=frozenset({"awq", "awq_marlin", "autoawq", *AUTO_ROUND}),
    weights={".qweight": ".weight"},
    side=by_suffix(
        zero_points=".qzeros",
        scales=".scales",
        order_of_columns=".g_idx",
    ),
    unpack=_unpack,
    needs=_needs,
)
