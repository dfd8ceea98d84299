"""GGUF's own packing: each tensor has a block type, and the counts of types determine the scheme.

A mixture has the name that `general.file_type` states, if the layers' types are those that llama.cpp's quantizer gives
them for it; if they are not, it is said to be mixed. Embeddings and heads are left out: they have types of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

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


class Made(NamedTuple):
    """What llama.cpp's quantizer makes of the layers' matrices for one `general.file_type`.

    Types that depend on the layer, the architecture, the sharing of heads, the experts, or an importance matrix are all
    listed: any of them agrees.
    """

    usual: str
    values: str = ""  # attn_v, attn_qkv, attn_kv_b
    down: str = ""
    output: str = ""
    others: str = ""
    always: bool = False  # whether some values differ from the usual type in every model


#: After `llama_ftype_get_default_type` and `llama_tensor_get_type_impl` in llama.cpp's src/llama-quant.cpp, 0.5.0.
MADE: Mapping[str, Made] = {
    "Q4_0": Made("Q4_0", down="Q4_1"),
    "Q4_1": Made("Q4_1"),
    "Q5_0": Made("Q5_0", down="Q5_1"),
    "Q5_1": Made("Q5_1"),
    "Q8_0": Made("Q8_0"),
    "Q2_K": Made("Q2_K", "Q3_K Q4_K Q5_K", "Q3_K", "Q3_K", always=True),
    "Q2_K_S": Made("Q2_K", "Q4_K Q5_K", "Q4_K"),
    "Q3_K_S": Made("Q3_K", "Q5_K"),
    "Q3_K_M": Made("Q3_K", "Q4_K Q5_K", "Q4_K Q5_K", "Q4_K", always=True),
    "Q3_K_L": Made("Q3_K", "Q5_K", "Q4_K Q5_K", "Q4_K Q5_K", always=True),
    "Q4_K_S": Made("Q4_K", "Q5_K", "Q5_K", always=True),
    "Q4_K_M": Made("Q4_K", "Q5_K Q6_K", "Q5_K Q6_K", always=True),
    "Q5_K_S": Made("Q5_K"),
    "Q5_K_M": Made("Q5_K", "Q6_K", "Q6_K", always=True),
    "Q6_K": Made("Q6_K"),
    "IQ1_S": Made("IQ1_S", "Q2_K Q4_K", "Q2_K", "IQ2_XXS"),
    "IQ1_M": Made("IQ1_M", "Q2_K Q4_K", "Q2_K", "IQ2_XXS"),
    "IQ2_XXS": Made("IQ2_XXS", "Q2_K Q4_K", "Q2_K"),
    "IQ2_XS": Made("IQ2_XS", "Q2_K Q4_K", "Q2_K"),
    "IQ2_S": Made("IQ2_XS", "IQ3_S Q4_K", "IQ3_S", "IQ3_S"),
    "IQ2_M": Made("IQ2_S", "IQ3_S Q4_K", "IQ3_S", "IQ3_S"),
    "IQ3_XXS": Made("IQ3_XXS", "IQ3_S Q4_K Q5_K", "Q3_K Q4_K", "IQ3_S", "IQ2_S"),
    "IQ3_XS": Made("IQ3_S", "Q4_K Q5_K", others="IQ3_XXS"),
    "IQ3_S": Made("IQ3_S", "Q4_K Q5_K"),
    "IQ3_M": Made("IQ3_S", "Q4_K Q5_K", "Q4_K", "Q4_K"),
    "IQ4_NL": Made("IQ4_NL", "Q5_K", "Q5_K"),
    "IQ4_XS": Made("IQ4_XS", "Q5_K", "Q5_K"),
    "TQ1_0": Made("TQ1_0"),
    "TQ2_0": Made("TQ2_0"),
    "MXFP4_MOE": Made("MXFP4", "Q8_0", "Q8_0", "Q8_0", "Q8_0"),
}

#: What eight experts add to the columns of `Made`: the model that this was tried on, Mixtral, has as many.
EIGHT_EXPERTS = Made("", values="Q8_0", output="Q5_K", others="Q4_K Q8_0")

#: Parts of names → the column of `Made`, the first that occurs.
COLUMNS = {
    "attn_v.": "values",
    "attn_qkv.": "values",
    "attn_kv_b.": "values",
    "ffn_down": "down",
    "attn_output.": "output",
}

#: Type of blocks of 256 → what is used if the rows do not fit these: `tensor_type_fallback`, in the same file.
SUBSTITUTES: Mapping[str, str] = {
    **dict.fromkeys(("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"),
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0"), "Q4_0"),
    "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0",
}  # fmt: skip

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
    if stated in MADE and layers:
        eight = any(
            header.metadata.get(f"{header.metadata.get('general.architecture')}.expert_count") == 8 for header in files
        )
        if _agrees(MADE[stated], layers, eight):
            main = BY_NAME[MADE[stated].usual]
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


def _agrees(made: Made, layers: Iterable[Tensor], eight: bool) -> bool:
    """Whether the quantizer makes such layers: each type is one that it uses there, and the mixture's types occur."""
    usual = apart = values = False
    for tensor in layers:
        column = next((column for part, column in COLUMNS.items() if part in tensor.name), "others")
        own = [*getattr(made, column).split(), *(getattr(EIGHT_EXPERTS, column, "").split() if eight else ())]
        fit = [_fitting(kind, tensor) for kind in (made.usual, *own)]
        if tensor.dtype not in fit:
            return False
        usual |= tensor.dtype == fit[0]
        apart |= tensor.dtype != fit[0]
        values |= column == "values" and fit[0] not in fit[1:]  # where both are substituted, they may be the same
    return usual and (apart or not (made.always and values))


def _fitting(kind: str, tensor: Tensor) -> str:
    """The type, or what is used instead of it for a tensor of this width."""
    width = tensor.shape[-1] if tensor.shape else 0
    return SUBSTITUTES.get(kind, kind) if width % BY_NAME[kind].block else kind


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
