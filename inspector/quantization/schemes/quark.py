"""AMD Quark: MXFP4 and FP8, declared as `quant_method: quark`.

MXFP4    weight U8 [O, I/2]    weight_scale U8 [O, I/32]
FP8      weight F8 [O, I]      weight_scale F32 [], [O] or [O, 1]    input_scale
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix

BLOCK = 32  # weights that share an exponent


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    weight, scale = unit.pieces.get(".weight"), unit.pieces.get(".weight_scale")
    if weight is None or scale is None:
        return None
    if weight.dtype == "F8_E4M3":
        return Weight(".weight", weight.shape, 8, None, "fp8")
    if weight.dtype != "U8" or len(weight.shape) < 2 or scale.dtype not in ("U8", "F8_E8M0"):
        return None
    columns = weight.shape[-1] * 2
    if scale.shape != (*weight.shape[:-1], columns // BLOCK):
        return None
    return Weight(".weight", (*weight.shape[:-1], columns), 4, BLOCK, "mxfp4")


SCHEME = Scheme(
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
    unpack=_unpack,
    needs=always(".weight_scale"),
)
