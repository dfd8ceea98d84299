"""GGUF's own packing: each tensor has a block type, and the counts of types determine the scheme.

Some mixtures of the same types have different names: there `general.file_type` decides, if the counts agree with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from inspector.formats.gguf.types import FILE_TYPES, TYPES, GGMLType
from inspector.model import Header, Packing, Tensor

BY_NAME: Mapping[str, GGMLType] = {kind.name: kind for kind in TYPES.values()}

#: Main type → (types that identify a mixture if any layer has them, its name), the first that fits; the name without
#: these types last. After `llama_tensor_get_type` in llama.cpp's src/llama-quant.cpp.
MIXTURES: Mapping[str, tuple[tuple[frozenset[str], str], ...]] = {
    "Q2_K": ((frozenset({"Q3_K"}), "Q2_K"), (frozenset(), "Q2_K_S")),
    "Q3_K": ((frozenset({"Q4_K"}), "Q3_K_M"), (frozenset({"Q5_K"}), "Q3_K_L"), (frozenset(), "Q3_K_S")),
    "Q4_K": ((frozenset({"Q6_K"}), "Q4_K_M"), (frozenset(), "Q4_K_S")),
    "Q5_K": ((frozenset({"Q6_K"}), "Q5_K_M"), (frozenset(), "Q5_K_S")),
}

#: `general.file_type` → the types that may predominate in the file, the first of them always in its layers; for
#: names that differ from their type's. After `llama_ftype_get_default_type` and `llama_tensor_get_type` there.
PREDOMINANT: Mapping[str, tuple[str, ...]] = {
    "IQ2_S": ("IQ2_XS",),
    "IQ2_M": ("IQ2_S",),
    "IQ3_XS": ("IQ3_S", "IQ3_XXS"),
    "IQ3_M": ("IQ3_S",),
    "MXFP4_MOE": ("MXFP4", "Q8_0"),  # experts in MXFP4, the rest in Q8_0: in a small model that is the larger part
}

#: Type → the type it replaces if rows are not a multiple of 256: llama.cpp's `tensor_type_fallback`.
FALLBACKS: Mapping[str, str] = {"Q5_0": "Q4_K", "Q5_1": "Q5_K", "Q8_0": "Q6_K"}


def packing_of(files: Sequence[Header]) -> Packing | None:
    """How the files' weights are packed; None if most of them are plain numbers."""
    tensors = [tensor for header in files for tensor in header.tensors]
    stored = {tensor.dtype for tensor in tensors}
    intended = [_intended_type(tensor, stored) for tensor in tensors]
    main = _main_type(tensors, intended)
    if main is None or main.block == 1:
        return None
    layers = {kind for tensor, kind in zip(tensors, intended, strict=True) if tensor.name.startswith("blk.")}
    widths = {kind: BY_NAME[kind].bits for kind in stored & BY_NAME.keys()}
    stated = _stated_file_type(files)
    if main.name in PREDOMINANT.get(stated, ()) and PREDOMINANT[stated][0] in layers:
        main = BY_NAME[PREDOMINANT[stated][0]]
        return Packing(stated, main.bits, main.block, widths=widths)
    return Packing(_mixture_name(main.name, layers), main.bits, main.block, widths=widths)


def _stated_file_type(files: Iterable[Header]) -> str:
    """The name of `general.file_type`; "" if no part has it."""
    values = (header.metadata.get("general.file_type") for header in files)
    return next((FILE_TYPES.get(value, "") for value in values if isinstance(value, int)), "")


def _intended_type(tensor: Tensor, stored: Iterable[str]) -> str:
    """The mixture's type for a tensor; it differs from the stored one if the rows do not fit its blocks."""
    kind = FALLBACKS.get(tensor.dtype)
    return kind if kind is not None and kind in stored and tensor.shape and tensor.shape[-1] % 256 else tensor.dtype


def _main_type(tensors: Iterable[Tensor], kinds: Iterable[str]) -> GGMLType | None:
    """The type of most elements."""
    elements: Counter[str] = Counter()
    for tensor, kind in zip(tensors, kinds, strict=True):
        elements[kind] += prod(tensor.shape)
    known = [name for name, _ in elements.most_common() if name in BY_NAME]
    return BY_NAME[known[0]] if known else None


def _mixture_name(main: str, layers: Iterable[str]) -> str:
    """The mixture's name, from the types in the layers: embeddings and head always have their own types."""
    others = set(layers) - {main}
    return next((name for types, name in MIXTURES.get(main, ()) if types <= others), main)
