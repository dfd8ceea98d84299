"""Words: integers of equal width, several to a word of 8 or 32 bits, in the order that a kernel reads them."""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import (
    AUTO_ROUND,
    COMMON_BITS,
    Declared,
    Scheme,
    Unit,
    Weight,
    always,
    by_suffix,
    count,
    group_of,
    packed_elements,
)


def _awq(unit: Unit, declared: Declared) -> Weight | None:
    """AWQ, as AutoAWQ writes it: 4 bits, four layouts of the same weights.

    gemm        qweight I32 [I, O/8]      qzeros I32 [I/g, O/8]    scales F16 [I/g, O]
    gemv        qweight I32 [O, I/8]      qzeros I32 [O, …]        scales F16 [O, …], widened to a multiple
    gemv_fast   qweight I16 [O/4, I]      qzeros F16 […, O]        scales F16 […, O]
    marlin      qweight I32 [I/16, 2·O]   qzeros I32 [I/g, O/8]    scales F16 [I/g, O]
    """
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


def _needs_of_awq(unit: Unit, weight: Weight, declared: Declared) -> str:
    """AutoAWQ's Marlin layout is symmetric, without zero points."""
    return ".scales" if weight.variant == "marlin" else ".scales .qzeros"


AWQ = Scheme(
    name="awq",
    methods=frozenset({"awq", "awq_marlin", "autoawq", *AUTO_ROUND}),
    weights={".qweight": ".weight"},
    side=by_suffix(
        zero_points=".qzeros",
        scales=".scales",
        order_of_columns=".g_idx",
    ),
    unpack=_awq,
    needs=_needs_of_awq,
)


def _bitnet(unit: Unit, declared: Declared) -> Weight | None:
    """BitNet: weights of −1, 0 and 1, four to a byte.

        weight U8 [O/4, I]    weight_scale [1]

    1.58 bits of information, 2 bits as stored.
    """
    weight, scale = unit.pieces.get(".weight"), unit.pieces.get(".weight_scale")
    if weight is None or scale is None or weight.dtype != "U8" or len(weight.shape) != 2 or count(scale) != 1:
        return None
    return Weight(".weight", (weight.shape[0] * 4, weight.shape[1]), 2)


BITNET = Scheme(
    name="bitnet",
    methods=frozenset({"bitnet"}),
    side={".weight_scale": "scales"},
    unpack=_bitnet,
    needs=always(".weight_scale"),
)


def _eetq(unit: Unit, declared: Declared) -> Weight | None:
    """EETQ: int8 in the order of CUTLASS's kernels.

    weight I8 [I, O]    weight_scales F16 [O]
    """
    weight, scales = unit.pieces.get(".weight"), unit.pieces.get(".weight_scales")
    if weight is None or scales is None or weight.dtype != "I8" or len(weight.shape) != 2:
        return None
    return Weight(".weight", (weight.shape[1], weight.shape[0]), 8)


EETQ = Scheme(
    name="eetq",
    methods=frozenset({"eetq"}),
    side={".weight_scales": "scales"},
    unpack=_eetq,
    needs=always(".weight_scales"),
)


MOST_BITS = 16


def _gptq(unit: Unit, declared: Declared) -> Weight | None:
    """GPTQ, as AutoGPTQ, GPTQModel, AutoRound and Transformers write it: 2, 3, 4 and 8 bits, v1 and v2.

        qweight I32 [I·b/32, O]    qzeros I32 [I/g, O·b/32]    scales F16 [I/g, O]    g_idx I32 [I]

    `qzeros` gives the bits and `qweight` the input width, so no configuration is needed; layers of other widths
    (GPTQModel's `dynamic`) are read correctly. `marlin` is the layout of IST-DASLab/marlin, `B` and `s`, or that of
    GPTQModel, `qweight` I32 [I/16, O·b/2].
    """
    if ".B" in unit.pieces:
        return _unpack_marlin(unit)
    packed, scales = unit.pieces.get(".qweight"), unit.pieces.get(".scales")
    if packed is None or scales is None or packed.dtype != "I32" or len(packed.shape) != 2 or len(scales.shape) != 2:
        return None
    (rows, columns), (groups, outputs) = packed.shape, scales.shape
    if not rows or not outputs:
        return None
    if columns != outputs:
        return _unpack_gptqmodel_marlin(packed, outputs, groups)
    bits = _bits_from_side_data(unit, rows, outputs) or declared.number("bits", "w_bit") or 4
    if bits > MOST_BITS:
        return None
    inputs = rows * 32 // bits
    return Weight(".qweight", (outputs, inputs), bits, group_of(inputs, groups))


def _bits_from_side_data(unit: Unit, rows: int, outputs: int) -> int | None:
    zeros, order = unit.pieces.get(".qzeros"), unit.pieces.get(".g_idx")
    if order is not None and len(order.shape) == 1 and order.shape[0]:
        return rows * 32 // order.shape[0] or None
    if zeros is not None and len(zeros.shape) == 2:
        return zeros.shape[1] * 32 // outputs or None
    return None


def _unpack_gptqmodel_marlin(packed: Tensor, outputs: int, groups: int) -> Weight | None:
    """GPTQModel's Marlin layout: tiles of 16 rows, whose words are adjacent."""
    inputs = packed.shape[0] * 16
    bits, rest = divmod(packed.shape[1] * 2, outputs)
    if rest or bits not in (4, 8):
        return None
    return Weight(".qweight", (outputs, inputs), bits, group_of(inputs, groups), "marlin")


def _unpack_marlin(unit: Unit) -> Weight | None:
    packed, scales = unit.pieces[".B"], unit.pieces.get(".s")
    if scales is None or packed.dtype != "I32" or len(packed.shape) != 2 or len(scales.shape) != 2:
        return None
    inputs, (groups, outputs) = packed.shape[0] * 16, scales.shape
    if not inputs or not outputs:
        return None
    return Weight(".B", (outputs, inputs), packed.nbytes * 8 // (inputs * outputs), group_of(inputs, groups), "marlin")


def _needs_of_gptq(unit: Unit, weight: Weight, declared: Declared) -> str:
    """The order of columns matters only if they were sorted (`desc_act`) and have several groups."""
    if weight.variant == "marlin":
        return ".scales .qzeros?" if weight.end == ".qweight" else ".s"
    sorted_ = declared.values.get("desc_act") is True and weight.group_size is not None
    return ".scales .qzeros .g_idx" if sorted_ else ".scales .qzeros"


GPTQ = Scheme(
    name="gptq",
    methods=frozenset({"gptq", "gptq_marlin", "gptqmodel", "marlin", *AUTO_ROUND}),
    weights={".qweight": ".weight", ".B": ".weight"},
    side=by_suffix(
        zero_points=".qzeros",
        scales=".scales .s",
        order_of_columns=".g_idx .perm .g_idx_sort_indices",
        workspace=".workspace",
    ),
    unpack=_gptq,
    needs=_needs_of_gptq,
)


def _nunchaku(unit: Unit, declared: Declared) -> Weight | None:
    """Nunchaku (SVDQuant): 4 bits with a low-rank branch for the error, for diffusion transformers.

    qweight I8 [O, I/2]    wscales [I/64, O], or F8 [I/16, O]    wtscale []    proj_down [I, r]    proj_up [O, r]
    """
    packed, scales = unit.pieces.get(".qweight"), unit.pieces.get(".wscales")
    if packed is None or scales is None or packed.dtype not in ("I8", "U8"):
        return None
    if len(packed.shape) != 2 or len(scales.shape) != 2 or not scales.shape[0]:
        return None
    outputs, inputs = packed.shape[0], packed.shape[1] * 2
    variant = "nvfp4" if scales.dtype == "F8_E4M3" else "int4"
    return Weight(".qweight", (outputs, inputs), 4, inputs // scales.shape[0], variant)


NUNCHAKU = Scheme(
    name="nunchaku",
    methods=frozenset({"nunchaku", "svdquant"}),
    weights={".qweight": ".weight"},
    side=by_suffix(
        scales=".wscales .wcscales",
        scales_of_scales=".wtscale",
        scales_of_inputs=".smooth .smooth_orig .smooth_factor .smooth_factor_orig",
        **{"low-rank corrections": ".proj_down .proj_up .lora_down .lora_up"},
    ),
    unpack=_nunchaku,
    needs=always(".wscales"),
)


def _qqq(unit: Unit, declared: Declared) -> Weight | None:
    """QQQ: 4-bit weights and 8-bit activations, in Marlin's order.

    B I32 [I/16, 2·O]    s_channel F32 [1, O]    s_group F16 [I/g, O], empty if only the channel's scale is used
    """
    packed, channel = unit.pieces.get(".B"), unit.pieces.get(".s_channel")
    if packed is None or channel is None or packed.dtype != "I32" or len(packed.shape) != 2 or not channel.shape:
        return None
    inputs, outputs = packed.shape[0] * 16, channel.shape[-1]
    if not inputs or packed.shape[1] != outputs * 2:
        return None
    groups = unit.pieces.get(".s_group")
    many = groups.shape[0] if groups is not None and len(groups.shape) == 2 else 1
    return Weight(".B", (outputs, inputs), 4, group_of(inputs, many))


QQQ = Scheme(
    name="qqq",
    methods=frozenset({"qqq"}),
    weights={".B": ".weight"},
    side=by_suffix(
        scales=".s_channel .s_group",
        workspace=".workspace .reduce_buffer",
    ),
    unpack=_qqq,
    needs=always(".s_channel .s_group?"),
)
