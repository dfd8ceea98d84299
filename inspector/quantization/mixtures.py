"""llama.cpp's mixtures: the type that its quantizer chooses for each tensor, for one `general.file_type`.

A mixture is a row of choices, one column for each purpose of a tensor. `types` applies it to a model's tensors, in the
quantizer's own order, since it counts them; `alternatives` lists what a column can become in any model.

Source: `llama_tensor_get_type_impl`, `tensor_allows_quantization`, `tensor_type_fallback` and
`llama_ftype_get_default_type` of llama.cpp's src/llama-quant.cpp, release 0.5.0; checked against the files that this
release writes (`fixtures/quantized.jsonl`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from inspector.formats.ggml import TYPES, GGMLType

BY_NAME: Mapping[str, GGMLType] = {kind.name: kind for kind in TYPES.values()}


class Mixture(NamedTuple):
    """The choices for one `general.file_type`.

    A choice is `condition:TYPE`, or a type alone; the first that holds counts, and the usual type if none does.
    """

    usual: str
    values: str = ""  # attn_v, attn_qkv, attn_kv_b
    keys: str = ""
    queries: str = ""
    output: str = ""  # attn_output
    down: str = ""
    gate: str = ""  # ffn_gate and ffn_up
    embedding: str = ""  # of tokens, if there is a head
    head: str = "Q6_K"  # the head, or the embedding that serves as one
    eight: str = "values:Q8_0 keys:Q8_0"  # column:TYPE with eight experts, as Mixtral has
    flat: str = ""  # the type of all other matrices, if only stacked experts have the usual one
    always: bool = False  # whether some values differ from the usual type in every model


_OUTPUT = "values:Q8_0 keys:Q8_0 output:Q5_K"
_LOW = "keys:Q4_K output:Q5_K"
_LOW_VALUES, _LOW_DOWN = "shared-or-experts:Q4_K Q2_K", "counted-eighth:Q2_K"
_MIDDLE_VALUES, _MIDDLE_DOWN = "shared-or-experts:Q4_K IQ3_S", "counted-eighth:IQ3_S"

MIXTURES: Mapping[str, Mixture] = {
    "IQ1_S": Mixture("IQ1_S", _LOW_VALUES, output="IQ2_XXS", down=_LOW_DOWN, embedding="Q2_K", head="Q5_K", eight=_LOW),
    "IQ1_M": Mixture("IQ1_M", _LOW_VALUES, output="IQ2_XXS", down=_LOW_DOWN, embedding="Q2_K", head="Q5_K", eight=_LOW),
    "TQ1_0": Mixture("TQ1_0", embedding="Q4_K"),
    "IQ2_XXS": Mixture("IQ2_XXS", _LOW_VALUES, down=_LOW_DOWN, embedding="Q2_K", head="Q5_K", eight=_LOW),
    "TQ2_0": Mixture("TQ2_0", embedding="Q4_K"),
    "IQ2_XS": Mixture("IQ2_XS", _LOW_VALUES, down=_LOW_DOWN, embedding="Q2_K", head="Q5_K", eight=_LOW),
    "IQ2_S": Mixture(
        "IQ2_XS", _MIDDLE_VALUES, output="IQ3_S", down=_MIDDLE_DOWN, embedding="IQ3_S", head="Q5_K", eight=_LOW
    ),
    "IQ2_M": Mixture(
        "IQ2_S", _MIDDLE_VALUES, output="IQ3_S", down=_MIDDLE_DOWN, embedding="IQ3_S", head="Q5_K", eight=_LOW
    ),
    "Q2_K_S": Mixture("Q2_K", "shared:Q4_K", down="eighth:Q4_K"),
    "Q2_K": Mixture("Q2_K", "shared:Q4_K Q3_K", output="Q3_K", down="Q3_K", eight=_OUTPUT, always=True),
    "IQ3_XXS": Mixture(
        "IQ3_XXS", "shared:Q4_K unweighted:IQ3_S", keys="IQ2_S", queries="IQ2_S", output="IQ3_S",
        down="unweighted-eighth:Q4_K unweighted:Q3_K", embedding="IQ3_S", head="Q5_K", eight=_OUTPUT,
    ),
    "IQ3_XS": Mixture(
        "IQ3_S", "shared:Q4_K", keys="IQ3_XXS", queries="IQ3_XXS", gate="middle:IQ3_XXS", eight=_OUTPUT
    ),
    "Q3_K_S": Mixture("Q3_K", eight=_OUTPUT),
    "IQ3_S": Mixture("IQ3_S", "shared:Q4_K", eight=_OUTPUT),
    "IQ3_M": Mixture("IQ3_S", "Q4_K", output="Q4_K", down="eighth:Q4_K eight-more:Q4_K", eight=_OUTPUT),
    "Q3_K_M": Mixture(
        "Q3_K", "first-2:Q5_K Q4_K", output="Q4_K", down="sixteenth:Q5_K Q4_K", eight=_OUTPUT, always=True
    ),
    "Q3_K_L": Mixture(
        "Q3_K", "Q5_K", output="Q5_K", down="Q5_K", eight="values:Q8_0 keys:Q8_0 output:Q3_K", always=True
    ),
    "IQ4_XS": Mixture("IQ4_XS", "shared:Q5_K", down="unweighted-eighth:Q5_K", eight=_OUTPUT),
    "IQ4_NL": Mixture("IQ4_NL", "shared:Q5_K", down="unweighted-eighth:Q5_K", eight=_OUTPUT),
    "Q4_0": Mixture("Q4_0", down="weighted-eighth:Q4_1"),
    "MXFP4_MOE": Mixture("MXFP4", head="Q8_0", eight="", flat="Q8_0"),
    "Q4_K_S": Mixture("Q4_K", "first-4:Q5_K", down="eighth:Q5_K", eight=_OUTPUT, always=True),
    "Q4_1": Mixture("Q4_1"),
    "Q4_K_M": Mixture("Q4_K", "more:Q6_K", down="more:Q6_K", eight=_OUTPUT, always=True),
    "Q5_0": Mixture("Q5_0", down="weighted-eighth:Q5_1"),
    "Q5_K_S": Mixture("Q5_K"),
    "Q5_K_M": Mixture("Q5_K", "more:Q6_K", down="more:Q6_K", always=True),
    "Q5_1": Mixture("Q5_1"),
    "Q6_K": Mixture("Q6_K"),
    "Q8_0": Mixture("Q8_0", head="Q8_0"),
    "F16": Mixture("F16"),
    "BF16": Mixture("BF16"),
}  # fmt: skip

#: Architecture → mixture ("" for all) → column → choices that replace the mixture's own.
EXCEPTIONS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "falcon": {
        "": {"head": "Q8_0"},
        "Q2_K": {"output": ""},
        "IQ3_XXS": {"output": ""},
        "IQ3_M": {"output": ""},
        "Q3_K_M": {"output": "", "down": "sixteenth:Q5_K more:Q4_K"},
        "Q3_K_L": {"output": "Q4_K", "down": "Q4_K"},
        "Q4_K_S": {"down": ""},
        "Q4_K_M": {"down": "sixteenth:Q6_K more:Q5_K"},
    }
}

#: Architecture → layers of the model that llama.cpp calls 70B, whose values of these types become Q5_K, and whether
#: only with shared keys and values.
SEVENTY: Mapping[str, tuple[int, bool]] = {
    "llama": (80, True),
    "qwen2": (80, False),
    "deci": (80, False),
    "jais2": (68, False),
}
_OF_SEVENTY = ("Q3_K", "Q4_K")
#: Mixtures to which that does not apply.
_LOW_TYPES = frozenset({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M"})

#: Parts of names → the column, the first that occurs.
COLUMNS: Mapping[str, str] = {
    "attn_qkv.weight": "values",
    "attn_kv_b.weight": "values",
    "attn_v.weight": "values",
    "attn_k.weight": "keys",
    "attn_q.weight": "queries",
    "attn_output.weight": "output",
    "ffn_up": "gate",
    "ffn_gate": "gate",
    "ffn_down": "down",
}
HEAD = "output.weight"
EMBEDDINGS = ("token_embd.weight", "per_layer_token_embd.weight")

#: Parts of the names of matrices that keep their type.
KEPT = (
    "_norm.weight", "ffn_gate_inp.weight", "ffn_gate_tid2eid.weight", "altup", "laurel", "per_layer_model_proj",
    "ssm_conv1d", "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight",
    *(f"time_mix_{part}.weight" for part in (
        "first", "w0", "w1", "w2", "v0", "v1", "v2", "a0", "a1", "a2", "g1", "g2", "decay_w1", "decay_w2", "lerp_fused",
    )),
    "attn_rel_b.weight", ".position_embd", "sam.pos_embd", "sam.neck.", "sam.net_", ".rel_pos", ".patch_embd",
    ".patch_merger",
)  # fmt: skip
#: Their whole names.
KEPT_NAMES = frozenset({"position_embd.weight", "token_types.weight"})

#: Type of blocks of 256 → what is used if the rows do not fit these; F16 if they do not fit that either.
SUBSTITUTES: Mapping[str, str] = {
    **dict.fromkeys(("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"),
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0"), "Q4_0"),
    "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0",
}  # fmt: skip

#: Types that the quantizer refuses to write without an importance matrix.
WEIGHTED = frozenset({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS"})
#: A mixture → further types of this kind.
WEIGHTED_IN: Mapping[str, frozenset[str]] = {"Q2_K_S": frozenset({"Q2_K"})}

_LAYER = re.compile(r"blk\.(\d{1,6})\.")


class Facts(NamedTuple):
    """What the choices depend on besides names and shapes."""

    architecture: str
    layers: int
    heads_per_value: int  # query heads that share keys and values, in the first layer
    experts: int = 0


class Place(NamedTuple):
    """A tensor's place among those of its column."""

    number: int
    total: int
    counted: int  # its number in the quantizer's own count


def types(
    name: str, tensors: Sequence[tuple[str, tuple[int, ...], str]], facts: Facts, *, weighted: bool = False
) -> list[str]:
    """The type of each tensor in a mixture.

    Args:
        tensors: name, shape (rows last) and present type.
        weighted: whether there is an importance matrix.
    """
    mixture = MIXTURES[name]
    choices = _choices(name, mixture, facts)
    tied = all(tensor != HEAD for tensor, _, _ in tensors)
    total = sum(column_of(tensor) == "values" for tensor, _, _ in tensors)
    counts = dict.fromkeys(("values", "down", "ffn_gate", "ffn_up"), 0)
    found = [""] * len(tensors)
    for number in sorted(range(len(tensors)), key=lambda each: _order(tensors[each][0])):
        tensor, shape, stored = tensors[number]
        if not is_quantized(tensor, shape):
            found[number] = stored
            continue
        if BY_NAME[mixture.usual].block == 1:
            found[number] = mixture.usual
            continue
        column = column_of(tensor)
        counter = "ffn_up" if "ffn_up" in tensor else "ffn_gate" if column == "gate" else column
        place = Place(0, 0, 0)
        if counter in counts:
            counted = counts[counter]
            counts[counter] += 1
            layer = _LAYER.match(tensor) if facts.experts > 1 and column != "values" else None
            place = Place(int(layer[1]) if layer else counted, total if column == "values" else facts.layers, counted)
        if tensor == HEAD or (tied and tensor in EMBEDDINGS):
            aligned = shape[-1] % BY_NAME[mixture.usual].block == 0
            kind = choices["head"] if aligned or mixture.flat else "Q8_0"
        elif mixture.flat:
            kind = mixture.usual if len(shape) > 2 and shape[-3] > 1 else mixture.flat
        elif tensor in EMBEDDINGS:
            kind = choices["embedding"] or mixture.usual
        else:
            kind = _first(choices.get(column, ""), place, facts, weighted) or mixture.usual
            if column == "values" and kind in _OF_SEVENTY and name not in _LOW_TYPES and _is_seventy(facts):
                kind = "Q5_K"
            if facts.experts == 8:
                kind = eight(name).get(column, kind)
        found[number] = fitted(kind, shape[-1])
    return found


def needs_weights(name: str, tensors: Iterable[tuple[str, tuple[int, ...], str]], kinds: Iterable[str]) -> bool:
    """Whether the quantizer refuses to write these types without an importance matrix."""
    needing = WEIGHTED | WEIGHTED_IN.get(name, frozenset())
    pairs = zip(tensors, kinds, strict=True)
    free = (HEAD, EMBEDDINGS[0])
    return any(kind in needing and kind != stored and tensor not in free for (tensor, _, stored), kind in pairs)


def is_quantized(name: str, shape: tuple[int, ...]) -> bool:
    """Whether the quantizer changes a tensor's type: it does for most matrices."""
    if sum(1 for _ in dims(shape)) < 2 or not name.endswith("weight") or name in KEPT_NAMES:
        return False
    return not any(part in name for part in KEPT)


def dims(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without leading ones, which ggml does not count."""
    first = next((at for at, size in enumerate(shape) if size != 1), max(len(shape) - 1, 0))
    return shape[first:]


def fitted(kind: str, width: int) -> str:
    """The type, or what is used instead of it for rows of this width."""
    for each in (kind, SUBSTITUTES.get(kind, kind)):
        if width % BY_NAME[each].block == 0:
            return each
    return "F16"


@cache
def alternatives(name: str, column: str) -> frozenset[str]:
    """All types other than the usual one that a column has in some model without eight experts."""
    rows = [_choices(name, MIXTURES[name], Facts(architecture, 0, 0)) for architecture in ("", *EXCEPTIONS)]
    found = {choice.rpartition(":")[2] for row in rows for choice in row.get(column, "").split()}
    if MIXTURES[name].flat:
        found.add(MIXTURES[name].flat)
    if column == "values" and name not in _LOW_TYPES and not {MIXTURES[name].usual, *found}.isdisjoint(_OF_SEVENTY):
        found.add("Q5_K")
    return frozenset(found)


def _choices(name: str, mixture: Mixture, facts: Facts) -> Mapping[str, str]:
    own = EXCEPTIONS.get(facts.architecture, {})
    return {**mixture._asdict(), **own.get("", {}), **own.get(name, {})}


def eight(name: str) -> Mapping[str, str]:
    """Column → its type with eight experts, where that matters."""
    return dict(choice.split(":") for choice in MIXTURES[name].eight.split())


def column_of(name: str) -> str:
    return next((column for part, column in COLUMNS.items() if part in name), "")


def _order(name: str) -> tuple[int, str]:
    """llama.cpp's order of tensors: by layer, and by name within it."""
    layer = _LAYER.match(name)
    return int(layer[1]) if layer else -1, name


def _first(choices: str, place: Place, facts: Facts, weighted: bool) -> str | None:
    for choice in choices.split():
        condition, _, kind = choice.rpartition(":")
        if not condition or _holds(condition, place, facts, weighted):
            return kind
    return None


def _holds(condition: str, place: Place, facts: Facts, weighted: bool) -> bool:
    number, eighth = place.number, place.total // 8
    more = number < eighth or number >= 7 * place.total // 8 or (number - eighth) % 3 == 2
    return {
        "shared": facts.heads_per_value >= 4,
        "shared-or-experts": facts.heads_per_value >= 4 or facts.experts >= 4,
        "unweighted": not weighted,
        "unweighted-eighth": not weighted and number < eighth,
        "weighted-eighth": weighted and number < eighth,
        "first-2": number < 2,
        "first-4": number < 4,
        "sixteenth": number < place.total // 16,
        "eighth": number < eighth,
        "counted-eighth": place.counted < eighth,
        "middle": eighth <= number < 7 * place.total // 8,
        "more": more,
        "eight-more": facts.experts == 8 and more,
    }[condition]


def _is_seventy(facts: Facts) -> bool:
    layers, shared = SEVENTY.get(facts.architecture, (None, False))
    return layers == facts.layers and not (shared and facts.heads_per_value == 1)
