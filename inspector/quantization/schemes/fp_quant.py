"""FP-Quant: MXFP4 and NVFP4 after a Hadamard rotation.

qweight U8 [O, I/2]    scales U8 [O, I/32] or [O, I/16]    weight_global_scale, act_global_scale [1]
forward_hadamard_matrix, backward_hadamard_matrix [h, h]
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, by_suffix

#: Weights that share a scale → the format.
FORMATS: Mapping[int, str] = {32: "mxfp4", 16: "nvfp4"}


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed, scales = unit.pieces.get(".qweight"), unit.pieces.get(".scales")
    if packed is None or scales is None or packed.dtype != "U8" or scales.dtype not in ("U8", "F8_E8M0", "F8_E4M3"):
        return None
    if len(packed.shape) != 2 or packed.shape[:-1] != scales.shape[:-1] or not scales.shape[-1]:
        return None
    rows, columns = packed.shape[0], packed.shape[1] * 2
    group = columns // scales.shape[-1]
    return Weight(".qweight", (rows, columns), 4, group, FORMATS[group]) if group in FORMATS else None


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    return ".scales .weight_global_scale" if weight.variant == "nvfp4" else ".scales"


SCHEME = Scheme(
    name="fp-quant",
    methods=frozenset({"fp_quant", "fp-quant"}),
    weights={".qweight": ".weight"},
    side=by_suffix(
        scales=".scales",
        scales_of_scales=".weight_global_scale",
        scales_of_inputs=".act_global_scale",
        rotations=".forward_hadamard_matrix .backward_hadamard_matrix",
    ),
    unpack=_unpack,
    needs=_needs,
)
