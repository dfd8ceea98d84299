"""QQQ: 4-bit weights and 8-bit activations, in Marlin's order.

B I32 [I/16, 2·O]    s_channel F32 [1, O]    s_group F16 [I/g, O], empty if only the channel's scale is used
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, group_of


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed, channel = unit.pieces.get(".B"), unit.pieces.get(".s_channel")
    if packed is None or channel is None or packed.dtype != "I32" or len(packed.shape) != 2 or not channel.shape:
        return None
    inputs, outputs = packed.shape[0] * 16, channel.shape[-1]
    if not inputs or packed.shape[1] != outputs * 2:
        return None
    groups = unit.pieces.get(".s_group")
    many = groups.shape[0] if groups is not None and len(groups.shape) == 2 else 1
    return Weight(".B", (outputs, inputs), 4, group_of(inputs, many))


SCHEME = Scheme(
    name="qqq",
    methods=frozenset({"qqq"}),
    weights={".B": ".weight"},
    side=by_suffix(
        scales=".s_channel .s_group",
        workspace=".workspace .reduce_buffer",
    ),
    unpack=_unpack,
    needs=always(".s_channel .s_group?"),
)
