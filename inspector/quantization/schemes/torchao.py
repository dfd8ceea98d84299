"""torchao's tensor subclasses, which Transformers splits into parts when it saves.

    int8, float8, intx     _weight_qdata I8 or F8 [O, I]     _weight_scale [O, I/g]         _weight_zero_point
    int4                   _weight_qdata I8 or U8 [O, I/2]   _weight_scale [I/g, O]         _weight_zero_point
    int4 preshuffled       _weight_qdata I8 [O, I/2]         _weight_group_scale [I/g, O]   _weight_row_scale
    int4 in words          _weight_qdata I32 [O, I/8]        _weight_scale [I/g, O]
    int4 in tiles          _weight_qdata I32 [O/8, I/128, 32, 4]    _weight_scale_and_zero [I/g, O, 2]
    nvfp4, mxfp4           _weight_qdata U8 [O, I/2]         _weight_scale F8 [O, I/16], E8M0 [O, I/32]

The type of each is in `__metadata__`; the shapes show what is needed. 4-bit values stored in one byte each
(`IntxUnpackedToInt8Tensor`) are counted at 8 bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Tensor
from inspector.quantization.scheme import (
    Declared,
    Scheme,
    Unit,
    Weight,
    always,
    by_suffix,
    flat,
    group_of,
    packed_elements,
)

_END = "._weight_qdata"
_SCALES = ("._weight_scale", "._weight_group_scale", "._weight_scale_and_zero")
FLOATS = frozenset({"F8_E4M3", "F8_E5M2"})
#: Zero points and the second of two scales: all that a setting gives to weights or not.
_BY_SETTINGS = "._weight_zero_point? ._weight_group_zero? ._weight_row_scale? ._weight_per_tensor_scale?"
#: Dtype of the scales, for two 4-bit floats per byte → the format.
PAIRS: Mapping[str, str] = {"F8_E4M3": "nvfp4", "F8_E8M0": "mxfp4"}


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    data = unit.pieces.get(_END)
    scale = unit.first(*_SCALES)
    if data is None or len(data.shape) < 2 or not all(data.shape):
        return None
    if scale is not None and _has_scales_by_group(unit, data, scale):
        return _unpack_int4(data, scale)
    groups = max(scale.shape[-1], 1) if scale is not None and len(scale.shape) == len(data.shape) else 1
    if data.dtype == "I8" or data.dtype in FLOATS:
        variant = "int8" if data.dtype == "I8" else "fp8"
        return Weight(_END, data.shape, 8, group_of(data.shape[-1], groups), variant)
    if data.dtype == "U8" and len(data.shape) == 2:
        variant = PAIRS.get(scale.dtype, "int4") if scale is not None else "int4"
        columns = data.shape[1] * 2
        return Weight(_END, (data.shape[0], columns), 4, group_of(columns, groups), variant)
    return flat(_END, data, 4, None, "int4")


def _has_scales_by_group(unit: Unit, data: Tensor, scale: Tensor) -> bool:
    """Whether the scales are [I/g, O], like those of 4-bit integers."""
    if len(scale.shape) < 2 or data.dtype in FLOATS:
        return False
    if "._weight_scale" not in unit.pieces or data.dtype == "I32":
        return True
    rows = data.shape[0]
    return len(scale.shape) == 2 and scale.shape[0] != rows and scale.shape[1] == rows


def _unpack_int4(data: Tensor, scale: Tensor) -> Weight | None:
    groups, outputs = scale.shape[:2]
    elements = packed_elements(data, 4)
    if not outputs or elements % outputs:
        return None
    inputs = elements // outputs
    return Weight(_END, (outputs, inputs), 4, group_of(inputs, groups), "int4")


SCHEME = Scheme(
    name="torchao",
    methods=frozenset({"torchao"}),
    weights={_END: ".weight"},
    side=by_suffix(
        scales="._weight_scale ._weight_scale_and_zero ._weight_group_scale",
        zero_points="._weight_zero_point ._weight_group_zero",
        scales_of_scales="._weight_row_scale ._weight_per_tensor_scale",
        scales_of_inputs="._weight_act_per_tensor_scale ._weight_act_pre_scale",
    ),
    unpack=_unpack,
    needs=always(f"{'|'.join(_SCALES)} {_BY_SETTINGS}"),
)
