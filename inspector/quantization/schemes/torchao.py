"""torchao's tensor subclasses, taken apart by Transformers when it saves.

    _weight_qdata I8 or F8 [O, I], U8 [O, I/2]    _weight_scale [O, I/g] or [I/g, O]    _weight_zero_point

The type of each stands in `__metadata__`; the shapes tell what is needed. 4-bit values that are kept
in bytes of their own (`IntxUnpackedToInt8Tensor`) are stored, and so counted, at 8 bits.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, flat, group_of

_END = "._weight_qdata"


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    data, scale = unit.pieces.get(_END), unit.pieces.get("._weight_scale")
    if data is None or len(data.shape) < 2:
        return None
    groups = max(scale.shape[-1], 1) if scale is not None and len(scale.shape) == len(data.shape) else 1
    if data.dtype in ("I8", "F8_E4M3", "F8_E5M2"):
        variant = "int8" if data.dtype == "I8" else "fp8"
        return Weight(_END, data.shape, 8, group_of(data.shape[-1], groups), variant)
    if data.dtype == "U8" and len(data.shape) == 2:
        return Weight(_END, (data.shape[0], data.shape[1] * 2), 4, None, "int4")
    return flat(_END, data, 4, None, "int4")


SCHEME = Scheme(
    name="torchao",
    methods=frozenset({"torchao"}),
    weights={_END: ".weight"},
    side={
        "._weight_scale": "scales",
        "._weight_zero_point": "zero points",
        "._weight_scale_and_zero": "scales",
        "._weight_per_tensor_scale": "scales of scales",
        "._weight_act_per_tensor_scale": "scales of inputs",
        "._weight_act_pre_scale": "scales of inputs",
    },
    unpack=_unpack,
)
