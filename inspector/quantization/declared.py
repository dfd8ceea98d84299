"""What a packed weight consists of, from its configuration and names alone: an index has no shapes.

The layouts are those of `schemes`, which say where each is from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import prod
from typing import Any

Shape = tuple[int, ...]
#: Names → type and shape; no type is the model's own.
Pieces = Mapping[str, tuple[str | None, Shape]]
#: End of a piece's name that shows that a weight is packed → the end of the weight's own name.
_SIGNS: Mapping[str, str] = {
    **dict.fromkeys((".weight.absmax", ".qweight", ".scales", ".weight_scale_inv", ".weight_packed"), ".weight"),
    "_blocks": "",
}


def pieces_of(names: Collection[str], declared: Mapping[str, Any]) -> dict[str, Callable[[Shape], Pieces]]:
    """Name of each packed weight → its pieces, for its shape."""
    found: dict[str, Callable[[Shape], Pieces]] = {}
    for name in names if declared else ():
        sign = next((sign for sign in _SIGNS if name.endswith(sign)), None)
        if sign is not None:
            stem = name.removesuffix(sign)
            found.setdefault(stem + _SIGNS[sign], _layout(stem, names, declared))
    return found


#: What bitsandbytes' description of a weight is called, before its kind.
_STATE = ".weight.quant_state.bitsandbytes__"


def _layout(stem: str, names: Collection[str], declared: Mapping[str, Any]) -> Callable[[Shape], Pieces]:
    def pieces(shape: Shape) -> Pieces:
        made = _made(stem, names, declared, shape)
        return {name: piece for end, piece in made.items() if (name := stem + end) in names}

    return pieces


def _made(stem: str, names: Collection[str], declared: Mapping[str, Any], shape: Shape) -> Pieces:
    *leading, columns = shape
    elements, rows = prod(shape), prod(leading)
    own = declared.get(stem)
    values = {**declared, **(own if isinstance(own, Mapping) else {})}
    bits, group = _number(values, "bits", 4), _number(values, "group_size", 64)
    if f"{stem}.weight.absmax" in names:
        blocks, nested = -(-elements // 64), f"{stem}.weight.nested_absmax" in names
        return {
            ".weight": ("U8", (elements // 2, 1)),
            ".weight.absmax": ("U8" if nested else "F32", (blocks,)),
            ".weight.quant_map": ("F32", (16,)),
            ".weight.nested_absmax": ("F32", (-(-blocks // 256),)),
            ".weight.nested_quant_map": ("F32", (256,)),
            **(
                {}
                if nested
                else {_STATE + kind: ("U8", (_state_length(values, shape, kind),)) for kind in ("nf4", "fp4")}
            ),
        }
    if f"{stem}.qweight" in names:  # GPTQ packs inputs, AWQ outputs: the same number of words
        groups = -(-columns // group) if group > 0 else 1
        awq = values.get("quant_method") == "awq"
        return {
            ".qweight": ("I32", (columns, rows * bits // 32) if awq else (columns * bits // 32, rows)),
            ".qzeros": ("I32", (groups, rows * bits // 32)),
            ".scales": ("F16", (groups, rows)),
            ".g_idx": ("I32", (columns,)),
        }
    if f"{stem}.weight_packed" in names:
        bits, group = _of_compressed_tensors(values)
        return {
            ".weight_packed": ("I32", (*leading, columns * bits // 32)),
            ".weight_scale": (None, (*leading, -(-columns // group) if group > 0 else 1)),
            ".weight_shape": ("I64", (2,)),
            ".weight_g_idx": ("I32", (columns,)),
        }
    if f"{stem}.weight_scale_inv" in names:
        block = values.get("weight_block_size") or [128, 128]
        return {
            ".weight": ("F8_E4M3", shape),
            ".weight_scale_inv": ("F32", (*leading[:-1], -(-leading[-1] // block[0]), -(-columns // block[1]))),
        }
    if f"{stem}_blocks" in names:
        inputs = leading[-1]
        return {
            "_blocks": ("U8", (*leading[:-1], columns, inputs // 32, 16)),
            "_scales": ("U8", (*leading[:-1], columns, inputs // 32)),
        }
    return {
        ".weight": ("U32", (*leading, columns * bits // 32)),
        ".scales": (None, (*leading, columns // group)),
        ".biases": (None, (*leading, columns // group)),
    }


def _of_compressed_tensors(values: Mapping[str, Any]) -> tuple[int, int]:
    """Bits and group of the weights, which one group of modules has; 0 for whole rows."""
    groups = values.get("config_groups")
    for own in groups.values() if isinstance(groups, Mapping) else ():
        weights = own.get("weights") if isinstance(own, Mapping) else None
        if isinstance(weights, Mapping):
            return _number(weights, "num_bits", 4), _number(weights, "group_size", 0)
    return 4, 0


def _number(values: Mapping[str, Any], field: str, usual: int) -> int:
    value = values.get(field)
    return value if type(value) is int and value else usual


def _state_length(values: Mapping[str, Any], shape: Shape, kind: str) -> int:
    """The length of the JSON in which bitsandbytes describes a weight."""
    dtype = str(values.get("bnb_4bit_compute_dtype", "bfloat16"))
    text = f'{{"quant_type": "{kind}", "blocksize": 64, "dtype": "{dtype}", "shape": {list(shape)}}}'
    return len(text)
