"""Floats of 8 and 4 bits, with scales for tensors, rows or blocks."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Tensor
from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, count, group_of

FP8_FLOATS = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
FP8_PAIRS = frozenset({"I8", "U8"})
FP4_BLOCK = 32
FP8_INVERSE = (".weight_scale_inv", "_scale_inv", ".scale")
FP8_SCALES = (".weight_scale_inv", ".weight_scale", ".scale_weight", ".qscale_weight", "_scale_inv", "_scale", ".scale")


def _fp8(unit: Unit, declared: Declared) -> Weight | None:
    """FP8: weights of one byte with a scale for the tensor, for each row, or for each block.

        weight F8_E4M3 [O, I]    weight_scale_inv F32 [⌈O/128⌉, ⌈I/128⌉]    DeepSeek-V3's blocks
                                 weight_scale F32 [], [O] or [O, 1]         FBGEMM, ModelOpt and others
                                 qscale_weight, qscale_act F32 []           Mistral's consolidated files
        weight I8 [O, I/2]       weight_scale_inv or scale E8M0 [O, I/32]   FP4 experts, two to a byte

    Stacked experts have a separate scale tensor next to a weight without a last word: `gate_up_proj`,
    `gate_up_proj_scale_inv`.
    """
    end = ".weight" if ".weight" in unit.pieces else ""
    weight = unit.pieces.get(end)
    scale = unit.first(*FP8_SCALES)
    if weight is None or scale is None:
        return None
    if weight.dtype in FP8_PAIRS:
        return _unpack_fp4(end, weight, unit)
    return Weight(end, weight.shape, 8, _side_of_block(weight, scale)) if weight.dtype in FP8_FLOATS else None


def _unpack_fp4(end: str, weight: Tensor, unit: Unit) -> Weight | None:
    """4-bit floats in bytes, with scales named like those of FP8 weights elsewhere in the checkpoint."""
    scale = unit.first(*FP8_INVERSE)
    if scale is None or len(weight.shape) < 2 or not weight.shape[-1]:
        return None
    *outer, half = weight.shape
    fits = scale.shape[-1:] == (half * 2 // FP4_BLOCK,) and scale.shape[:-1] == tuple(outer)
    return Weight(end, (*outer, half * 2), 4, FP4_BLOCK, "fp4") if fits else None


def _side_of_block(weight: Tensor, scale: Tensor) -> int | None:
    """The side of a block along a row; None if a scale serves whole rows."""
    if count(scale) <= 1 or len(scale.shape) != len(weight.shape) or scale.shape[-1] <= 1:
        return None
    return 1 << (-(-weight.shape[-1] // scale.shape[-1]) - 1).bit_length()


FP8 = Scheme(
    name="fp8",
    methods=frozenset({"fp8", "fbgemm_fp8", "finegrained_fp8", "fp8_e4m3"}),
    weights={".weight": ".weight", "": ""},
    side=by_suffix(
        scales=".weight_scale_inv .weight_scale .scale_weight .qscale_weight _scale_inv _scale .scale",
        scales_of_inputs=".qscale_act .scale_input .input_scale .activation_scale _activation_scale",
        bounds_of_inputs=".input_scale_ub",
    ),
    loose=by_suffix(
        scales_of_the_cache=".k_scale .v_scale .q_scale .prob_scale .kv_scale"
        " .k_fake_quantizer.qscale_act .v_fake_quantizer.qscale_act",
        layout_marks=".comfy_quant .scaled_fp8 scaled_fp8",
    ),
    unpack=_fp8,
    needs=always("|".join(FP8_SCALES)),
)


#: Weights that share a scale → the format.
FP_QUANT_FORMATS: Mapping[int, str] = {32: "mxfp4", 16: "nvfp4"}


def _fp_quant(unit: Unit, declared: Declared) -> Weight | None:
    """FP-Quant: MXFP4 and NVFP4 after a Hadamard rotation.

    qweight U8 [O, I/2]    scales U8 [O, I/32] or [O, I/16]    weight_global_scale, act_global_scale [1]
    forward_hadamard_matrix, backward_hadamard_matrix [h, h]
    """
    packed, scales = unit.pieces.get(".qweight"), unit.pieces.get(".scales")
    if packed is None or scales is None or packed.dtype != "U8" or scales.dtype not in ("U8", "F8_E8M0", "F8_E4M3"):
        return None
    if len(packed.shape) != 2 or packed.shape[:-1] != scales.shape[:-1] or not scales.shape[-1]:
        return None
    rows, columns = packed.shape[0], packed.shape[1] * 2
    group = columns // scales.shape[-1]
    return Weight(".qweight", (rows, columns), 4, group, FP_QUANT_FORMATS[group]) if group in FP_QUANT_FORMATS else None


def _needs_of_fp_quant(unit: Unit, weight: Weight, declared: Declared) -> str:
    return ".scales .weight_global_scale" if weight.variant == "nvfp4" else ".scales"


FP_QUANT = Scheme(
    name="fp-quant",
    methods=frozenset({"fp_quant", "fp-quant"}),
    weights={".qweight": ".weight"},
    side=by_suffix(
        scales=".scales",
        scales_of_scales=".weight_global_scale",
        scales_of_inputs=".act_global_scale",
        rotations=".forward_hadamard_matrix .backward_hadamard_matrix",
    ),
    unpack=_fp_quant,
    needs=_needs_of_fp_quant,
)


def _modelopt(unit: Unit, declared: Declared) -> Weight | None:
    """NVIDIA ModelOpt, declared in `hf_quant_config.json` or as `quant_method: modelopt`.

    FP8         weight F8 [O, I]      weight_scale F32 []            input_scale F32 []
    NVFP4       weight U8 [O, I/2]    weight_scale F8 [O, I/16]      weight_scale_2 F32 [], input_scale F32 []
    INT4 AWQ    weight U8 [O/2, I]    weight_scale F32 [O, I/g]      pre_quant_scale [I]
    INT8        weight I8 [O, I]      weight_scale F32 [O]           pre_quant_scale [I]
    """
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


def _needs_of_modelopt(unit: Unit, weight: Weight, declared: Declared) -> str:
    """NVFP4 has two levels of scales, and so has INT4 AWQ if inputs are quantized (W4A8)."""
    scale = ".weight_scale" if weight.end else "_weight_scale"
    second = {"nvfp4": f" {scale}_2", "int4-awq": f" {scale}_2?"}
    return scale + second.get(weight.variant, "")


MODELOPT = Scheme(
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
    unpack=_modelopt,
    needs=_needs_of_modelopt,
    declared_by=lambda values: "quant_algo" in values,
)


MXFP4_BLOCK = 32  # weights that share an exponent
_MXFP4_ENDS = {"_blocks": "_scales", ".blocks": ".scales"}


def _mxfp4(unit: Unit, declared: Declared) -> Weight | None:
    """MXFP4 as gpt-oss stores its experts: 32 weights of 4 bits share an exponent.

        …_blocks U8 [E, O, I/32, 16]    …_scales U8 [E, O, I/32]

    OpenAI's own files write `.blocks` and `.scales`. The OCP Microscaling specification gives the format.
    """
    for end, scale_end in _MXFP4_ENDS.items():
        blocks, scales = unit.pieces.get(end), unit.pieces.get(scale_end)
        if blocks is None or scales is None or blocks.dtype != "U8" or blocks.shape[:-1] != scales.shape:
            continue
        *outer, groups, half = blocks.shape
        if half * 2 == MXFP4_BLOCK:
            return Weight(end, (*outer, groups * MXFP4_BLOCK), 4, MXFP4_BLOCK)
    return None


def _needs_of_mxfp4(unit: Unit, weight: Weight, declared: Declared) -> str:
    return _MXFP4_ENDS[weight.end]


MXFP4 = Scheme(
    name="mxfp4",
    methods=frozenset({"mxfp4"}),
    weights={"_blocks": "", ".blocks": ""},
    side={"_scales": "scales", ".scales": "scales"},
    unpack=_mxfp4,
    needs=_needs_of_mxfp4,
)


QUARK_BLOCK = 32  # weights that share an exponent


def _quark(unit: Unit, declared: Declared) -> Weight | None:
    """AMD Quark: MXFP4 and FP8, declared as `quant_method: quark`.

    MXFP4    weight U8 [O, I/2]    weight_scale U8 [O, I/32]
    FP8      weight F8 [O, I]      weight_scale F32 [], [O] or [O, 1]    input_scale
    """
    weight, scale = unit.pieces.get(".weight"), unit.pieces.get(".weight_scale")
    if weight is None or scale is None:
        return None
    if weight.dtype == "F8_E4M3":
        return Weight(".weight", weight.shape, 8, None, "fp8")
    if weight.dtype != "U8" or len(weight.shape) < 2 or scale.dtype not in ("U8", "F8_E8M0"):
        return None
    columns = weight.shape[-1] * 2
    if scale.shape != (*weight.shape[:-1], columns // QUARK_BLOCK):
        return None
    return Weight(".weight", (*weight.shape[:-1], columns), 4, QUARK_BLOCK, "mxfp4")


QUARK = Scheme(
    name="quark",
    methods=frozenset({"quark"}),
    side=by_suffix(
        scales=".weight_scale",
        zero_points=".weight_zero_point",
        scales_of_inputs=".input_scale",
        zero_points_of_inputs=".input_zero_point",
        scales_of_outputs=".output_scale",
    ),
    loose=by_suffix(scales_of_the_cache=".k_scale .v_scale"),
    unpack=_quark,
    needs=always(".weight_scale"),
)
