"""GPTQ, as AutoGPTQ, GPTQModel, AutoRound and Transformers write it: 2, 3, 4 and 8 bits, v1 and v2.

    qweight I32 [I·b/32, O]    qzeros I32 [I/g, O·b/32]    scales F16 [I/g, O]    g_idx I32 [I]

`qzeros` gives the bits and `qweight` the input width, so no configuration is needed; layers of other widths
(GPTQModel's `dynamic`) are read correctly. `marlin` is the layout of IST-DASLab/marlin, `B` and `s`, or GPTQModel's,
`qweight` I32 [I/16, O·b/2].
"""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import AUTO_ROUND, Declared, Scheme, Unit, Weight, by_suffix, group_of

MOST_BITS = 16


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
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


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """The order of columns matters only if they were sorted (`desc_act`) and have several groups."""
    if weight.variant == "marlin":
        return ".scales .qzeros?" if weight.end == ".qweight" else ".s"
    sorted_ = declared.values.get("desc_act") is True and weight.group_size is not None
    return ".scales .qzeros .g_idx" if sorted_ else ".scales .qzeros"


SCHEME = Scheme(
    name="gptq",
    methods=frozenset({"gptq", "gptq_marlin", "gptqmodel", "marlin", *AUTO_ROUND}),
    weights={".qweight": ".weight", ".B": ".weight"},
    side=by_suffix(
        zero_points=".qzeros",
        scales=".scales .s",
        order_of_columns=".g_idx .perm .g_idx_sort_indices",
        workspace=".workspace",
    ),
    unpack=_unpack,
    needs=_needs,
)
