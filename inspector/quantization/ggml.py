"""GGUF's own packing: each tensor has a block type. The scheme is told from the types that are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import prod

from inspector.formats.ggml_types import TYPES, GGMLType
from inspector.model import Header, Packing, Tensor

BY_NAME: Mapping[str, GGMLType] = {kind.name: kind for kind in TYPES.values()}

#: Main type → (types that tell the mixture where layers hold any of them, its name), the first that fits; the name
#: without such types last. After `llama_tensor_get_type` in llama.cpp's src/llama-quant.cpp.
MIXTURES: Mapping[str, tuple[tuple[frozenset[str], str], ...]] = {
    "Q2_K": ((frozenset({"Q3_K"}), "Q2_K"), (frozenset(), "Q2_K_S")),
    "Q3_K": ((frozenset({"Q4_K"}), "Q3_K_M"), (frozenset({"Q5_K"}), "Q3_K_L"), (frozenset(), "Q3_K_S")),
    "Q4_K": ((frozenset({"Q6_K"}), "Q4_K_M"), (frozenset(), "Q4_K_S")),
    "Q5_K": ((frozenset({"Q6_K"}), "Q5_K_M"), (frozenset(), "Q5_K_S")),
}


def packing_of(files: Iterable[Header]) -> Packing | None:
    """How the files' weights are packed; None where most of them are plain numbers."""
    tensors = [tensor for header in files for tensor in header.tensors]
    main = _main_type(tensors)
    if main is None or main.block == 1:
        return None
    return Packing(_scheme(main.name, tensors), main.bits, main.block, widths=_widths(tensors))


def _main_type(tensors: Iterable[Tensor]) -> GGMLType | None:
    """The type of most elements."""
    elements: Counter[str] = Counter()
    for tensor in tensors:
        elements[tensor.dtype] += prod(tensor.shape)
    known = [name for name, _ in elements.most_common() if name in BY_NAME]
    return BY_NAME[known[0]] if known else None


def _scheme(main: str, tensors: Iterable[Tensor]) -> str:
    """The mixture's name, from the other types in the layers: embeddings and head have types of their own in all."""
    others = {tensor.dtype for tensor in tensors if tensor.name.startswith("blk.")} - {main}
    for types, name in MIXTURES.get(main, ()):
        if types <= others:
            return name
    return main


def _widths(tensors: Iterable[Tensor]) -> Mapping[str, int]:
    """Block type → bits of an element, scales apart, for the types that are there."""
    return {kind: BY_NAME[kind].bits for kind in {t.dtype for t in tensors} & BY_NAME.keys()}
