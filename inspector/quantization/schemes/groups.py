"""Groups as rows: integers in the order of the weights, whose groups, rows or columns have scales and zero points."""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import (
    COMMON_GROUPS,
    Declared,
    Scheme,
    Unit,
    Weight,
    always,
    by_suffix,
    count,
    flat,
    inner,
    number_of,
)

_GEMMA_SCALES = {".weight": ".weight_scale", ".embedding_quantized": ".embedding_scale"}


def _gemma(unit: Unit, declared: Declared) -> Weight | None:
    """Gemma's own packing for devices: integers of 2, 4 and 8 bits, and scales for inputs and outputs.

        weight U8 [O, I/2] or [O, I/4], I8 [O, I]    weight_scale F32 [O, 1]
        input_activation_scale, output_activation_scale F32 []
        embedding_quantized U8 or I8 [V, …]          embedding_scale F32 [V, 1] or [V, blocks]

    2 and 4 bits have the same bytes: the model's other dimensions, or the configuration, must decide.
    """
    for end, scale_end in _GEMMA_SCALES.items():
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


def _needs_of_gemma(unit: Unit, weight: Weight, declared: Declared) -> str:
    return _GEMMA_SCALES[weight.end]


GEMMA = Scheme(
    name="gemma",
    methods=frozenset({"gemma"}),
    weights={".weight": ".weight", ".embedding_quantized": ".weight"},
    side=by_suffix(
        scales=".weight_scale .embedding_scale",
        scales_of_inputs=".input_activation_scale",
        scales_of_outputs=".output_activation_scale",
    ),
    unpack=_gemma,
    needs=_needs_of_gemma,
)


HQQ_WIDTHS = frozenset({1, 2, 3, 4, 8})  # `nbits`; 3 in 32-bit words
HQQ_GROUP = 64
_HQQ_SETTINGS = (
    ".axis .channel_wise .compute_dtype .encoded_state_dict .group_size .nbits .offload_meta .optimize .packing"
    " .quant_scale .quant_zero .round_zero .shape .stores_quant_config .unpack_view_dtype .view_as_float"
)


def _hqq(unit: Unit, declared: Declared) -> Weight | None:
    """HQQ (half-quadratic quantization): groups as rows or columns, and every setting as a tensor.

        W_q U8 [n/g·b/8, g]      scale F16 [n/g, 1]    zero F16 [n/g, 1]     axis 1
        W_q U8 [g·b/8, n/g]      scale F16 [1, n/g]    zero F16 [1, n/g]     axis 0
        W_q I32 with ten weights of 3 bits per word

    `shape` is data, which is not read: only the elements are counted.
    """
    packed, scale = unit.pieces.get(".W_q"), unit.pieces.get(".scale")
    if packed is None or scale is None or len(packed.shape) != 2 or len(scale.shape) != 2 or not all(packed.shape):
        return None
    groups = count(scale)
    bits, group, sure = _groups_as_rows(packed, groups) if scale.shape[1] == 1 else _groups_as_columns(packed, declared)
    return Weight(".W_q", (groups * group,), bits, group, sure=sure) if bits else None


def _groups_as_rows(packed: Tensor, groups: int) -> tuple[int, int, bool]:
    """One group per row: the number of rows packed together gives the bits."""
    bits = 3 if packed.dtype == "I32" else packed.shape[0] * 8 // max(groups, 1)
    return bits, packed.shape[1], True


def _groups_as_columns(packed: Tensor, declared: Declared) -> tuple[int, int, bool]:
    """One group per column, padded to whole elements: the configuration must say how many weights each holds."""
    claimed = next((b for each in inner(declared.values) if (b := number_of(each, "nbits")) in HQQ_WIDTHS), None)
    bits = 3 if packed.dtype == "I32" else claimed or _bits_of_default_group(packed.shape[0])
    per_element = 10 if packed.dtype == "I32" else 8 // bits
    room = packed.shape[0] * per_element
    sizes = [n for each in inner(declared.values) if (n := number_of(each, "group_size"))]
    group = next((n for n in (*sizes, *sorted(COMMON_GROUPS)) if 0 <= room - n < per_element), room)
    return bits, group, claimed == bits or packed.dtype == "I32"


def _bits_of_default_group(rows: int) -> int:
    """The bits at which a column holds a group of the library's default size; 4 if none does."""
    return next((bits for bits in sorted(HQQ_WIDTHS) if rows * 8 == bits * HQQ_GROUP and bits != 3), 4)


HQQ = Scheme(
    name="hqq",
    methods=frozenset({"hqq"}),
    weights={".W_q": ".weight"},
    side=by_suffix(
        scales=".scale",
        zero_points=".zero",
        settings=_HQQ_SETTINGS,
    ),
    unpack=_hqq,
    needs=always(".scale .zero"),
)


_PLAIN, _PACKED = ".weight._data", ".weight._data._data"


def _quanto(unit: Unit, declared: Declared) -> Weight | None:
    """quanto (optimum-quanto), declared in `quanto_qmap.json`.

        int8, float8   weight._data I8 or F8 [O, I]             weight._scale [O, 1]
        int4, int2     weight._data._data U8 [n/g·b/8, g]       weight._scale [n/g, 1]    weight._shift [n/g, 1]

    Groups of the narrow widths are stored as rows, so only the number of elements is known.
    """
    scale, data, packed = (unit.pieces.get(end) for end in (".weight._scale", _PLAIN, _PACKED))
    if scale is None:
        return None
    if data is not None and data.dtype != "U8":
        return Weight(_PLAIN, data.shape, 8, None, "int8" if data.dtype == "I8" else "float8")
    end, bytes_ = (_PLAIN, data) if data is not None else (_PACKED, packed)
    if bytes_ is None or len(bytes_.shape) != 2 or not count(scale) or not all(bytes_.shape):
        return None
    bits = bytes_.shape[0] * 8 // count(scale) if scale.shape[-1] == 1 else 4
    return flat(end, bytes_, bits, bytes_.shape[1], f"int{bits}") if bits in (2, 4) else None


def _needs_of_quanto(unit: Unit, weight: Weight, declared: Declared) -> str:
    """The narrow integers are asymmetric."""
    narrow = weight.variant in ("int2", "int4")
    return ".weight._scale .weight._shift|.weight._zeropoint" if narrow else ".weight._scale"


QUANTO = Scheme(
    name="quanto",
    methods=frozenset({"quanto"}),
    weights={_PLAIN: ".weight", _PACKED: ".weight"},
    side=by_suffix(
        scales=".weight._scale",
        zero_points=".weight._shift .weight._zeropoint",
        scales_of_inputs=".input_scale",
        scales_of_outputs=".output_scale",
    ),
    unpack=_quanto,
    needs=_needs_of_quanto,
    declared_by=lambda values: any(
        isinstance(each, dict) and "weights" in each and "activations" in each for each in values.values()
    ),
)


_SINQ_PIECES = ("", ".x", ".m", ".s")


def _sinq(unit: Unit, declared: Declared) -> Weight | None:
    """SINQ (Sinkhorn-normalised quantization): groups as rows, a scale for the inputs, scales packed once more.

        W_q U8 [n/g·b/8, g]    meta.scale2 F16 [1, I]    meta.scale, meta.zero F16 [n/g, 1], or in three pieces:
        meta.zero.x U8 [n/g, 1], meta.zero.m, meta.zero.s F16

    Shapes are in a JSON file next to the index; the zero points give the number of groups, and thus the bits.
    """
    packed, inputs = unit.pieces.get(".W_q"), unit.pieces.get(".meta.scale2")
    zeros = unit.first(".meta.zero.x", ".meta.zero")
    if packed is None or zeros is None or len(packed.shape) != 2 or not count(zeros):
        return None
    rows, group = packed.shape
    bits = rows * 8 // count(zeros)
    elements = count(zeros) * group
    if inputs is None or not count(inputs) or elements % count(inputs):
        return Weight(".W_q", (elements,), bits, group)
    return Weight(".W_q", (elements // count(inputs), count(inputs)), bits, group)


def _needs_of_sinq(unit: Unit, weight: Weight, declared: Declared) -> str:
    """Scales and zero points, each of which may itself be packed, in three pieces."""
    ends = ".meta.scale2"
    for kind in (".meta.scale", ".meta.zero"):
        ends += " " + (f"{kind}.x {kind}.m {kind}.s" if f"{kind}.x" in unit.pieces else f"{kind}|{kind}.x")
    return ends


SINQ = Scheme(
    name="sinq",
    methods=frozenset({"sinq"}),
    weights={".W_q": ".weight"},
    side=by_suffix(
        scales=" ".join(f".meta.scale{piece}" for piece in _SINQ_PIECES),
        zero_points=" ".join(f".meta.zero{piece}" for piece in _SINQ_PIECES),
        scales_of_inputs=".meta.scale2 .meta.awq_scale",
    ),
    unpack=_sinq,
    needs=_needs_of_sinq,
)
