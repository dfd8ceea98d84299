"""bitsandbytes: NF4 and FP4 with or without double quantization, and int8.

    4 bits   weight U8 [O·I/2, 1], or another dtype as storage     weight.absmax F32 [O·I/64], U8 when quantized too
    int8     weight I8 [O, I]                                      SCB F32 [O], weight_format U8 []

The shape of a 4-bit weight is data (JSON in `weight.quant_state.…`), which is not read: only its elements are counted.
"""

from __future__ import annotations

from inspector.quantization.scheme import (
    Declared,
    Scheme,
    Unit,
    Weight,
    by_suffix,
    count,
    flat,
    group_of,
    packed_elements,
)

_STATES = {".weight.quant_state.bitsandbytes__nf4": "nf4", ".weight.quant_state.bitsandbytes__fp4": "fp4"}


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    weight = unit.pieces.get(".weight")
    if weight is None:
        return None
    if ".SCB" in unit.pieces and weight.dtype == "I8":
        return Weight(".weight", weight.shape, 8, None, "int8")
    absmax = unit.pieces.get(".weight.absmax")
    if absmax is None:
        return None
    variant = next((kind for end, kind in _STATES.items() if end in unit.pieces), declared.text("bnb_4bit_quant_type"))
    return flat(".weight", weight, 4, group_of(packed_elements(weight, 4), count(absmax)), variant)


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """A code book, a state and scales; scales of one byte were quantized themselves, and have the same."""
    if weight.variant == "int8":
        return ".SCB"
    absmax = unit.pieces.get(".weight.absmax")
    nested = absmax is not None and absmax.dtype == "U8"
    ends = f".weight.absmax .weight.quant_map {'|'.join(_STATES)}"
    return f"{ends} .weight.nested_absmax .weight.nested_quant_map" if nested else ends


SCHEME = Scheme(
    name="bitsandbytes",
    methods=frozenset({"bitsandbytes"}),
    side=by_suffix(
        scales=".weight.absmax .SCB",
        code_books=".weight.quant_map",
        scales_of_scales=".weight.nested_absmax",
        code_books_of_scales=".weight.nested_quant_map",
        states=" ".join(_STATES),
        layout_marks=".weight_format",
    ),
    unpack=_unpack,
    needs=_needs,
    declared_by=lambda values: bool(values.get("load_in_4bit") or values.get("load_in_8bit")),
)
