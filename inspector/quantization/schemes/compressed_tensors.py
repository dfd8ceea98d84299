"""compressed-tensors, the format of LLM Compressor and vLLM: integers, floats, NVFP4, MXFP4, MXFP6, 2:4 sparsity.

    pack-quantized       weight_packed I32 [O, I·b/32]   weight_scale [O, I/g]   weight_zero_point I32 [O·b/32, I/g]
    naive, int, float    weight I8 or F8 [O, I]          weight_scale [1], [O, 1] or on a grid of blocks
    nvfp4, mxfp4         weight_packed U8 [O, I/2]       weight_scale F8 [O, I/16], U8 [O, I/32]
    mxfp6                weight_packed U8 [O, I·6/8]     weight_scale U8 [O, I/32]
    marlin-24            weight_packed I32 [I/32, O·b/2] scale_packed [I/g, O]   meta I16
    sparse               compressed [O, I/2] or [n]      bitmask U8 [O, I/8]

Experts in one tensor have the same pieces after the tensor's name, which is not a module: `gate_up_proj_packed`,
`gate_up_proj_scale`, `gate_up_proj_global_scale`.

`weight_shape` is data, which is not read. `config_groups` gives bits and group sizes, checked against the tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from inspector.model import Tensor
from inspector.quantization.scheme import (
    AUTO_ROUND,
    Declared,
    Scheme,
    Unit,
    Weight,
    by_suffix,
    count,
    fit,
    group_of,
    inner,
    number_of,
)

#: Suffix after the name of experts' stacked tensor → the suffix after a module's name.
_AS_OF_MODULE: Mapping[str, str] = {
    "": ".weight",
    **{end: f".weight{end}" for end in ("_packed", "_scale", "_zero_point", "_shape", "_g_idx", "_global_scale")},
}
SIX_BITS = 32 * 6 // 8  # bytes per scale of MXFP6
PLAIN = frozenset({"I8", "F8_E4M3", "F8_E5M2"})


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    pieces = {_AS_OF_MODULE.get(end, end): tensor for end, tensor in unit.pieces.items()}
    weight = _unpack_pieces(pieces, declared)
    return weight and replace(weight, end=next(end for end in unit.pieces if _AS_OF_MODULE.get(end, end) == weight.end))


def _unpack_pieces(pieces: Mapping[str, Tensor], declared: Declared) -> Weight | None:
    if ".compressed" in pieces and ".bitmask" in pieces:
        return _unpack_sparse(pieces[".compressed"], pieces[".bitmask"])
    packed, scale = pieces.get(".weight_packed"), pieces.get(".weight_scale")
    if packed is not None and ".scale_packed" in pieces:
        return _unpack_marlin_24(packed, pieces[".scale_packed"])
    if packed is not None and scale is not None and len(packed.shape) >= 2 and packed.shape[-1]:
        return (
            _unpack_floats(packed, scale) if packed.dtype == "U8" else _unpack_integers(pieces, packed, scale, declared)
        )
    weight = pieces.get(".weight")
    if weight is None or scale is None or weight.dtype not in PLAIN:
        return None
    variant = "int-quantized" if weight.dtype == "I8" else "float-quantized"
    group = group_of(weight.shape[-1], scale.shape[-1]) if len(scale.shape) == len(weight.shape) == 2 else None
    return Weight(".weight", weight.shape, 8, group, variant)


def _unpack_floats(packed: Tensor, scale: Tensor) -> Weight | None:
    """Two 4-bit floats per byte, 16 (NVFP4) or 32 (MXFP4) per scale; or four of 6 bits in three bytes, 32 per scale."""
    powers = scale.dtype in ("U8", "F8_E8M0")  # powers of two, like the scales of all microscaling formats
    six = powers and bool(scale.shape) and packed.shape[-1] == scale.shape[-1] * SIX_BITS
    bits = 6 if six else 4
    columns = packed.shape[-1] * 8 // bits
    group = group_of(columns, scale.shape[-1]) if scale.shape else None
    variant = f"mxfp{bits}-pack-quantized" if powers else "nvfp4-pack-quantized"
    return Weight(".weight_packed", (*packed.shape[:-1], columns), bits, group, variant)


def _unpack_integers(pieces: Mapping[str, Tensor], packed: Tensor, scale: Tensor, declared: Declared) -> Weight | None:
    """Integers in 32-bit words; each row is padded to whole words."""
    groups = scale.shape[-1] if len(scale.shape) == len(packed.shape) else 1
    room = packed.shape[-1] * 32
    bits, group = _bits_of_zero_points(pieces, packed), None
    if bits is None:
        bits, group = _declared_bits_and_group(declared, room, groups)
    order = pieces.get(".weight_g_idx")
    if order is not None and len(order.shape) == 1 and order.shape[0] and room // order.shape[0]:
        columns, bits, sure = order.shape[0], room // order.shape[0], True
    else:
        found = fit(room, groups, declared, usual=128, bits=bits, group=group)
        if found is None:
            return None
        columns, bits, sure = found
    shape = (*packed.shape[:-1], columns)
    return Weight(".weight_packed", shape, bits, group_of(columns, groups), "pack-quantized", sure)


def _bits_of_zero_points(pieces: Mapping[str, Tensor], packed: Tensor) -> int | None:
    """The width shown by packed zero points, which are packed along the outputs."""
    zeros = pieces.get(".weight_zero_point")
    if zeros is None or zeros.dtype != "I32" or len(zeros.shape) != 2 or not packed.shape[0]:
        return None
    return zeros.shape[0] * 32 // packed.shape[0] or None


def _declared_bits_and_group(declared: Declared, room: int, groups: int) -> tuple[int | None, int | None]:
    """Bits and group size of the configuration's only kind of weights that fills this space."""
    pairs = {
        (number_of(each, "num_bits"), number_of(each, "group_size")) for each in _declared_weights(declared.values)
    }
    if groups <= 1:
        widths = {bits for bits, _ in pairs}
        return (widths.pop(), None) if len(widths) == 1 else (None, None)
    fitting = [(bits, size) for bits, size in pairs if bits and size and 0 <= room - groups * size * bits < 32]
    return fitting[0] if len(fitting) == 1 else (None, None)


def _declared_weights(values: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for each in inner(values.get("config_groups")):
        weights = each.get("weights")
        if isinstance(weights, Mapping):
            yield weights


def _unpack_marlin_24(packed: Tensor, scale: Tensor) -> Weight | None:
    """Half of the weights in Marlin's order; the other half are zero."""
    if len(packed.shape) != 2 or len(scale.shape) != 2 or not scale.shape[1] or not packed.shape[0]:
        return None
    inputs, outputs = packed.shape[0] * 32, scale.shape[1]
    bits = packed.nbytes * 8 * 2 // (inputs * outputs)
    return Weight(".weight_packed", (outputs, inputs), bits, group_of(inputs, scale.shape[0]), "marlin-24")


def _unpack_sparse(compressed: Tensor, bitmask: Tensor) -> Weight | None:
    """Nonzero values, and a bit for each position; the bits give the width of a row."""
    if len(bitmask.shape) != 2 or bitmask.dtype != "U8" or not count(compressed):
        return None
    rows, columns = bitmask.shape[0], bitmask.shape[1] * 8
    if len(compressed.shape) == 2 and compressed.shape[0] == rows:
        columns = min(columns, compressed.shape[1] * 2)
    return Weight(".compressed", (rows, columns), compressed.nbytes * 8 // count(compressed), None, "sparse")


#: What compressed-tensors 0.20 stores with every weight, by variant; the others have scales alone.
_NEEDS: Mapping[str, str] = {
    "pack-quantized": ".weight_scale .weight_shape",
    "nvfp4-pack-quantized": ".weight_scale .weight_global_scale",
    "marlin-24": ".scale_packed .meta",
    "sparse": ".bitmask .shape",
}


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """Integers have zero points, too, if all that the configuration declares are asymmetric."""
    ends = _NEEDS.get(weight.variant, ".weight_scale")
    symmetric = [each.get("symmetric") for each in _declared_weights(declared.values)]
    asymmetric = weight.variant in ("pack-quantized", "int-quantized") and bool(symmetric) and not any(symmetric)
    ends = f"{ends} .weight_zero_point" if asymmetric and None not in symmetric else ends
    return ends if weight.end.startswith(".") else ends.replace(".weight", "")


SCHEME = Scheme(
    name="compressed-tensors",
    methods=frozenset({"compressed-tensors", "compressed_tensors", *AUTO_ROUND}),
    weights={".weight_packed": ".weight", ".compressed": ".weight", ".weight": ".weight", "_packed": "", "": ""},
    side=by_suffix(
        scales=".weight_scale .scale_packed _scale",
        zero_points=".weight_zero_point _zero_point",
        shapes=".weight_shape .shape _shape",
        order_of_columns=".weight_g_idx _g_idx",
        scales_of_scales=".weight_global_scale _global_scale",
        scales_of_inputs=".input_global_scale .input_scale _input_global_scale _input_scale",
        zero_points_of_inputs=".input_zero_point",
        scales_of_outputs=".output_scale",
        zero_points_of_outputs=".output_zero_point",
        places_of_weights=".bitmask .row_offsets .meta",
    ),
    loose=by_suffix(scales_of_the_cache=".k_scale .v_scale .q_scale"),
    unpack=_unpack,
    needs=_needs,
    declared_by=lambda values: "config_groups" in values and "quant_method" not in values,
)
