"""GGUF's own packing: each tensor has a block type, and the counts of types determine the scheme.

A mixture has the name that `general.file_type` states, if the layers' types are those that llama.cpp's quantizer gives
them for it; if they are not, it is called mixed. Embeddings and heads are left out: they have types of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from inspector.formats.ggml import FILE_TYPES, GGMLType
from inspector.model import Header, Packing, Tensor
from inspector.quantization.mixtures import BY_NAME, MIXTURES, alternatives, column_of, eight, fitted

#: Main type → (types that identify a mixture if any layer has them, its name), the first that fits; the name without
#: these types last. After `llama_tensor_get_type` in llama.cpp's src/llama-quant.cpp.
NAMES: Mapping[str, tuple[tuple[frozenset[str], str], ...]] = {
    "Q2_K": ((frozenset({"Q3_K"}), "Q2_K"), (frozenset(), "Q2_K_S")),
    "Q3_K": ((frozenset({"Q4_K"}), "Q3_K_M"), (frozenset({"Q5_K"}), "Q3_K_L"), (frozenset(), "Q3_K_S")),
    "Q4_K": ((frozenset({"Q6_K"}), "Q4_K_M"), (frozenset(), "Q4_K_S")),
    "Q5_K": ((frozenset({"Q6_K"}), "Q5_K_M"), (frozenset(), "Q5_K_S")),
}


#: The same the other way round, where only one type has that substitute.
FALLBACKS: Mapping[str, str] = {"Q5_0": "Q4_K", "Q5_1": "Q5_K", "Q8_0": "Q6_K"}


def packing_of(files: Sequence[Header]) -> Packing | None:
    """How the files' weights are packed; None if most of them are plain numbers."""
    tensors = [tensor for header in files for tensor in header.tensors]
    whole = _main_type(tensors, [tensor.dtype for tensor in tensors])
    if whole is None or whole.block == 1:
        return None
    layers = [tensor for tensor in tensors if "blk." in tensor.name and _is_packed(tensor)]
    stored = {tensor.dtype for tensor in tensors}
    widths = {kind: BY_NAME[kind].bits for kind in stored & BY_NAME.keys()}
    stated = _stated_file_type(files)
    if stated in MIXTURES and BY_NAME[MIXTURES[stated].usual].block > 1 and layers:
        experts = any(
            header.metadata.get(f"{header.metadata.get('general.architecture')}.expert_count") == 8 for header in files
        )
        if _agrees(stated, layers, experts):
            main = BY_NAME[MIXTURES[stated].usual]
            return Packing(stated, main.bits, main.block, widths=widths)
        kinds = {tensor.dtype for tensor in layers}
        main = _main_type(layers, [tensor.dtype for tensor in layers]) or whole
        return Packing(
            main.name if len(kinds) == 1 else f"mixed, mostly {main.name}", main.bits, main.block, widths=widths
        )
    intended = [_intended_type(tensor, stored) for tensor in layers]
    main = _main_type(layers, intended) or whole
    return Packing(_mixture_name(main.name, intended), main.bits, main.block, widths=widths)


def _is_packed(tensor: Tensor) -> bool:
    return tensor.dtype in BY_NAME and BY_NAME[tensor.dtype].block > 1


def _agrees(name: str, layers: Iterable[Tensor], experts: bool) -> bool:
    """Whether the quantizer makes such layers: each type is one that it uses there, and the mixture's types occur.

    Types that depend on the layer, the architecture, the sharing of heads, or an importance matrix are all accepted.

    Args:
        experts: whether there are eight, which have types of their own.
    """
    made, others = MIXTURES[name], eight(name) if experts else {}
    usual = apart = values = False
    for tensor in layers:
        column, width = column_of(tensor.name), tensor.shape[-1] if tensor.shape else 0
        own = alternatives(name, column) | ({others[column]} if column in others else set())
        first, rest = fitted(made.usual, width), {fitted(kind, width) for kind in own}
        if tensor.dtype != first and tensor.dtype not in rest:
            return False
        usual |= tensor.dtype == first
        apart |= tensor.dtype != first
        values |= column == "values" and first not in rest  # where both are substituted, they may be the same
    return usual and (apart or not (made.always and values))


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
    return next((name for types, name in NAMES.get(main, ()) if types <= others), main)
