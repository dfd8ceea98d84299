"""EXL2, ExLlamaV2's format: groups of rows at 2 to 8 bits within one tensor.

    q_weight I32 [Σ rows·b/32, O]    q_scale I32 [groups, O/8]    q_scale_max F16 [groups]
    q_groups I16 [2·groups]          q_invperm I32 [I], or q_perm

The order of rows gives the inputs; the bits vary between rows, and the nearest integer is reported.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, group_of


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed = unit.pieces.get(".q_weight")
    order = unit.pieces.get(".q_invperm") or unit.pieces.get(".q_perm")
    if packed is None or order is None or len(packed.shape) != 2 or len(order.shape) != 1:
        return None
    outputs, inputs = packed.shape[1], order.shape[0]
    if not outputs or not inputs:
        return None
    scales = unit.pieces.get(".q_scale")
    group = group_of(inputs, scales.shape[0]) if scales is not None and scales.shape else None
    bits = (2 * packed.nbytes * 8 + inputs * outputs) // (2 * inputs * outputs)  # the nearest
    return Weight(".q_weight", (outputs, inputs), max(bits, 1), group)


SCHEME = Scheme(
    name="exl2",
    methods=frozenset({"exl2"}),
    weights={".q_weight": ".weight"},
    side={
        ".q_scale": "scales",
        ".q_scale_max": "scales of scales",
        ".q_groups": "groups",
        ".q_invperm": "order of columns",
        ".q_perm": "order of columns",
    },
    unpack=_unpack,
    uneven=True,
)
