"""EXL2, ExLlamaV2's format: groups of rows at 2 to 8 bits within one tensor.

    q_weight I32 [Σ rows·b/32, O]    q_scale I32 [groups, O/8]    q_scale_max F16 [groups]
    q_groups I16 [2·groups]          q_invperm I32 [I], or q_perm

The order of rows gives the inputs; the bits vary between rows, and the nearest integer is reported.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, group_of, nearest_bits


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed = unit.pieces.get(".q_weight")
    order = unit.first(".q_invperm", ".q_perm")
    if packed is None or order is None or len(packed.shape) != 2 or len(order.shape) != 1:
        return None
    outputs, inputs = packed.shape[1], order.shape[0]
    if not outputs or not inputs:
        return None
    scales = unit.pieces.get(".q_scale")
    group = group_of(inputs, scales.shape[0]) if scales is not None and scales.shape else None
    return Weight(".q_weight", (outputs, inputs), nearest_bits(packed, inputs * outputs), group)


SCHEME = Scheme(
    name="exl2",
    methods=frozenset({"exl2"}),
    weights={".q_weight": ".weight"},
    side=by_suffix(
        scales=".q_scale",
        scales_of_scales=".q_scale_max",
        groups=".q_groups",
        order_of_columns=".q_invperm .q_perm",
    ),
    unpack=_unpack,
    needs=always(".q_scale .q_scale_max .q_groups .q_invperm|.q_perm"),
    uneven=True,
)
