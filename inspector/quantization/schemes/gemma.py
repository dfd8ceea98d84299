"""Gemma's own packing for devices: integers of 2, 4 and 8 bits, and scales for inputs and outputs.

    weight U8 [O, I/2] or [O, I/4], I8 [O, I]    weight_scale F32 [O, 1]
    input_activation_scale, output_activation_scale F32 []
    embedding_quantized U8 or I8 [V, …]          embedding_scale F32 [V, 1] or [V, blocks]

2 and 4 bits have the same bytes: the model's other dimensions, or the configuration, must decide.
"""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, by_suffix, number_of

_SCALES = {".weight": ".weight_scale", ".embedding_quantized": ".embedding_scale"}


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    for end, scale_end in _SCALES.items():
        packed, scale = unit.pieces.get(end), unit.pieces.get(scale_end)
        if packed is None or scale is None or len(packed.shape) != 2 or len(scale.shape) != 2:
            continue
        if packed.shape[0] != scale.shape[0] or (end == ".weight" and not _has_activation_scales(unit)):
            continue
        if packed.dtype == "I8":
            return Weight(end, packed.shape, 8, None, "int8")
        if packed.dtype == "U8":
            return _unpack_narrow(end, packed, declared)
    return None


def _has_activation_scales(unit: Unit) -> bool:
    """Whether scales of activations rule out another library's weight."""
    return ".input_activation_scale" in unit.pieces or ".output_activation_scale" in unit.pieces


def _unpack_narrow(end: str, packed: Tensor, declared: Declared) -> Weight:
    rows, columns = packed.shape
    fits = [bits for bits in (4, 2) if columns * 8 // bits in declared.sizes]
    claimed = number_of(declared.values, "num_bits")
    bits = fits[0] if len(fits) == 1 else claimed if claimed in (2, 4) else 4
    sure = len(fits) == 1 or claimed == bits
    return Weight(end, (rows, columns * 8 // bits), bits, None, f"int{bits}", sure)


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    return _SCALES[weight.end]


SCHEME = Scheme(
    name="gemma",
    methods=frozenset({"gemma"}),
    weights={".weight": ".weight", ".embedding_quantized": ".weight"},
    side=by_suffix(
        scales=".weight_scale .embedding_scale",
        scales_of_inputs=".input_activation_scale",
        scales_of_outputs=".output_activation_scale",
    ),
    unpack=_unpack,
    needs=_needs,
)
