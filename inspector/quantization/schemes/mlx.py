"""MLX: 2 to 8 bits in groups with scale and bias, and the MX and NV float modes without biases.

    affine    weight U32 [O, I·b/32]   scales F16 [O, I/g]   biases F16 [O, I/g]
    metal     the same in Transformers, with qbiases for biases
    mxfp4, mxfp8, nvfp4                scales U8 [O, I/g]

`quantization` in config.json gives bits and group size, and an object for each module that differs. Stacked experts
(`switch_mlp`) have an additional leading dimension.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Tensor
from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, by_suffix, fit, number_of

#: Mode without biases → (bits, weights that share a scale).
MODES: Mapping[str, tuple[int, int]] = {"mxfp4": (4, 32), "nvfp4": (4, 16), "mxfp8": (8, 32)}


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    weight, scales = unit.pieces.get(".weight"), unit.pieces.get(".scales")
    if weight is None or scales is None or weight.dtype != "U32" or len(weight.shape) < 2:
        return None
    if weight.shape[:-1] != scales.shape[:-1] or not scales.shape[-1]:
        return None
    return (
        _unpack_floats(weight, scales) if scales.dtype == "U8" else _unpack_affine(unit.stem, weight, scales, declared)
    )


def _unpack_floats(weight: Tensor, scales: Tensor) -> Weight | None:
    """The mode whose bits and group match the two tensors' widths; no two modes have the same product."""
    room, groups = weight.shape[-1] * 32, scales.shape[-1]
    for mode, (bits, group) in MODES.items():
        if groups * group * bits == room:
            return Weight(".weight", (*weight.shape[:-1], groups * group), bits, group, mode)
    return None


def _unpack_affine(stem: str, weight: Tensor, scales: Tensor, declared: Declared) -> Weight | None:
    own = declared.values.get(stem)
    bits = number_of(own, "bits") or declared.number("bits")
    group = number_of(own, "group_size") or declared.number("group_size")
    found = fit(weight.shape[-1] * 32, scales.shape[-1], declared, usual=64, bits=bits, group=group)
    if found is None:
        return None
    shape = (*weight.shape[:-1], found.columns)
    return Weight(".weight", shape, found.bits, found.columns // scales.shape[-1], sure=found.sure)


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    return ".scales" if weight.variant in MODES else ".scales .biases|.qbiases"


SCHEME = Scheme(
    name="mlx",
    methods=frozenset({"mlx", "metal"}),
    side=by_suffix(scales=".scales", biases_of_groups=".biases .qbiases"),
    unpack=_unpack,
    by_module=True,
    needs=_needs,
    declared_by=lambda values: "quant_method" not in values and "bits" in values and "group_size" in values,
)
