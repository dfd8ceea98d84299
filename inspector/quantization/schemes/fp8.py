"""FP8: weights of one byte with a scale for the tensor, for each row, or for each block.

    weight F8_E4M3 [O, I]    weight_scale_inv F32 [⌈O/128⌉, ⌈I/128⌉]    DeepSeek-V3's blocks
                             weight_scale F32 [], [O] or [O, 1]         FBGEMM, ModelOpt and others
                             qscale_weight, qscale_act F32 []           Mistral's consolidated files
    weight I8 [O, I/2]       weight_scale_inv or scale E8M0 [O, I/32]   FP4 experts, two to a byte

Stacked experts have a separate scale tensor next to a weight without a last word: `gate_up_proj`,
`gate_up_proj_scale_inv`.
"""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, count

FLOATS = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
PAIRS = frozenset({"I8", "U8"})
FP4_BLOCK = 32
INVERSE = (".weight_scale_inv", "_scale_inv", ".scale")
SCALES = (".weight_scale_inv", ".weight_scale", ".scale_weight", ".qscale_weight", "_scale_inv", "_scale", ".scale")


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    end = ".weight" if ".weight" in unit.pieces else ""
    weight = unit.pieces.get(end)
    scale = unit.first(*SCALES)
    if weight is None or scale is None:
        return None
    if weight.dtype in PAIRS:
        return _unpack_fp4(end, weight, unit)
    return Weight(end, weight.shape, 8, _side_of_block(weight, scale)) if weight.dtype in FLOATS else None


def _unpack_fp4(end: str, weight: Tensor, unit: Unit) -> Weight | None:
    """4-bit floats in bytes, with scales named like those of FP8 weights elsewhere in the checkpoint."""
    scale = unit.first(*INVERSE)
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


SCHEME = Scheme(
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
    unpack=_unpack,
    needs=always("|".join(SCALES)),
)
