"""quanto (optimum-quanto), declared in `quanto_qmap.json`.

    int8, float8   weight._data I8 or F8 [O, I]             weight._scale [O, 1]
    int4, int2     weight._data._data U8 [n/g·b/8, g]       weight._scale [n/g, 1]    weight._shift [n/g, 1]

Groups of the narrow widths are stored as rows, so only the number of elements is known.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, by_suffix, count, flat

_PLAIN, _PACKED = ".weight._data", ".weight._data._data"


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
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


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """The narrow integers are asymmetric."""
    narrow = weight.variant in ("int2", "int4")
    return ".weight._scale .weight._shift|.weight._zeropoint" if narrow else ".weight._scale"


SCHEME = Scheme(
    name="quanto",
    methods=frozenset({"quanto"}),
    weights={_PLAIN: ".weight", _PACKED: ".weight"},
    side=by_suffix(
        scales=".weight._scale",
        zero_points=".weight._shift .weight._zeropoint",
        scales_of_inputs=".input_scale",
        scales_of_outputs=".output_scale",
    ),
    unpack=_unpack,
    needs=_needs,
    declared_by=lambda values: any(
        isinstance(each, dict) and "weights" in each and "activations" in each for each in values.values()
    ),
)
