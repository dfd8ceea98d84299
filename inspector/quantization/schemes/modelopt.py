"""NVIDIA ModelOpt, declared in `hf_quant_config.json` or as `quant_method: modelopt`.

FP8         weight F8 [O, I]      weight_scale F32 []            input_scale F32 []
NVFP4       weight U8 [O, I/2]    weight_scale F8 [O, I/16]      weight_scale_2 F32 [], input_scale F32 []
INT4 AWQ    weight U8 [O/2, I]    weight_scale F32 [O, I/g]      pre_quant_scale [I]
INT8        weight I8 [O, I]      weight_scale F32 [O]           pre_quant_scale [I]
"""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, by_suffix, group_of


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    end = ".weight" if ".weight" in unit.pieces else ""
    weight = unit.pieces.get(end)
    scale = unit.pieces.get(".weight_scale" if end else "_weight_scale")
    if weight is None or scale is None:
        return None
    if weight.dtype == "U8":
        return _unpack_four_bits(end, weight, scale)
    if weight.dtype in ("F8_E4M3", "I8"):
        return Weight(end, weight.shape, 8, None, "fp8" if weight.dtype == "F8_E4M3" else "int8")
    return None


def _unpack_four_bits(end: str, weight: Tensor, scale: Tensor) -> Weight | None:
    """Packed along the inputs with F8 or E8M0 scales, along the outputs with wider ones."""
    if len(weight.shape) < 2 or len(scale.shape) != len(weight.shape):
        return None
    *outer, rows, columns = weight.shape
    if scale.dtype in ("F8_E4M3", "U8", "F8_E8M0") and scale.shape[-2] == rows:
        group = group_of(columns * 2, scale.shape[-1])
        return Weight(end, (*outer, rows, columns * 2), 4, group, "nvfp4" if scale.dtype == "F8_E4M3" else "mxfp4")
    if scale.shape[-2] == rows * 2:
        return Weight(end, (*outer, rows * 2, columns), 4, group_of(columns, scale.shape[-1]), "int4-awq")
    return None


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """NVFP4 has two levels of scales, and so has INT4 AWQ if inputs are quantized (W4A8)."""
    scale = ".weight_scale" if weight.end else "_weight_scale"
    second = {"nvfp4": f" {scale}_2", "int4-awq": f" {scale}_2?"}
    return scale + second.get(weight.variant, "")


SCHEME = Scheme(
    name="modelopt",
    methods=frozenset({"modelopt", "modelopt_fp4", "modelopt_mixed"}),
    weights={".weight": ".weight", "": ""},
    side=by_suffix(
        scales=".weight_scale _weight_scale",
        scales_of_scales=".weight_scale_2 _weight_scale_2",
        scales_of_inputs=".input_scale .pre_quant_scale _input_scale",
    ),
    loose=by_suffix(
        scales_of_the_cache=".k_scale .v_scale .k_proj.k_scale .v_proj.v_scale",
    ),
    unpack=_unpack,
    needs=_needs,
    declared_by=lambda values: "quant_algo" in values,
)
