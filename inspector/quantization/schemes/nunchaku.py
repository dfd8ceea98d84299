"""Nunchaku (SVDQuant): 4 bits with a low-rank branch for the error, for diffusion transformers.

qweight I8 [O, I/2]    wscales [I/64, O], or F8 [I/16, O]    wtscale []    proj_down [I, r]    proj_up [O, r]
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed, scales = unit.pieces.get(".qweight"), unit.pieces.get(".wscales")
    if packed is None or scales is None or packed.dtype not in ("I8", "U8"):
        return None
    if len(packed.shape) != 2 or len(scales.shape) != 2 or not scales.shape[0]:
        return None
    outputs, inputs = packed.shape[0], packed.shape[1] * 2
    variant = "nvfp4" if scales.dtype == "F8_E4M3" else "int4"
    return Weight(".qweight", (outputs, inputs), 4, inputs // scales.shape[0], variant)


SCHEME = Scheme(
    name="nunchaku",
    methods=frozenset({"nunchaku", "svdquant"}),
    weights={".qweight": ".weight"},
    side=by_suffix(
        scales=".wscales .wcscales",
        scales_of_scales=".wtscale",
        scales_of_inputs=".smooth .smooth_orig .smooth_factor .smooth_factor_orig",
        **{"low-rank corrections": ".proj_down .proj_up .lora_down .lora_up"},
    ),
    unpack=_unpack,
    needs=always(".wscales"),
)
