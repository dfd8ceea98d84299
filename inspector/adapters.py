"""Adapters: small weights that change a model's own, told from the ends of their names.

`adapter_config.json` (PEFT) says what should be there; kohya's and diffusers' files have no configuration.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from inspector.architectures.conventions import TAILS
from inspector.model import Adapter, Tensor

#: End of a tensor's name → (method, part, dimension that shows the rank). The first that fits, longer ones before.
ENDS: tuple[tuple[str, str, str, int | None], ...] = (
    (".lora_A.weight", "lora", "lora_A", 0),
    (".lora_B.weight", "lora", "lora_B", None),
    (".lora_B.bias", "lora", "lora_B_bias", None),
    (".lora_embedding_A", "lora", "lora_embedding_A", 0),
    (".lora_embedding_B", "lora", "lora_embedding_B", None),
    (".lora_magnitude_vector.weight", "dora", "magnitude", None),
    (".lora_magnitude_vector", "dora", "magnitude", None),
    (".lora.down.weight", "lora", "lora_A", 0),
    (".lora.up.weight", "lora", "lora_B", None),
    (".lora_linear_layer.down.weight", "lora", "lora_A", 0),
    (".lora_linear_layer.up.weight", "lora", "lora_B", None),
    (".lora_down.weight", "lora", "lora_A", 0),
    (".lora_up.weight", "lora", "lora_B", None),
    (".lora_mid.weight", "lora", "lora_mid", None),
    (".dora_scale", "dora", "magnitude", None),
    (".lora_A", "lora", "lora_A", 0),
    (".lora_B", "lora", "lora_B", None),
    (".lora_E", "adalora", "lora_E", None),
    (".hada_w1_a", "loha", "hada_w1_a", 1),
    (".hada_w1_b", "loha", "hada_w1_b", None),
    (".hada_w2_a", "loha", "hada_w2_a", None),
    (".hada_w2_b", "loha", "hada_w2_b", None),
    (".hada_t1", "loha", "hada_t1", None),
    (".hada_t2", "loha", "hada_t2", None),
    (".lokr_w1", "lokr", "lokr_w1", None),
    (".lokr_w1_a", "lokr", "lokr_w1_a", None),
    (".lokr_w1_b", "lokr", "lokr_w1_b", None),
    (".lokr_w2", "lokr", "lokr_w2", None),
    (".lokr_w2_a", "lokr", "lokr_w2_a", 1),
    (".lokr_w2_b", "lokr", "lokr_w2_b", None),
    (".lokr_t2", "lokr", "lokr_t2", None),
    (".ia3_l", "ia3", "ia3_l", None),
    (".vera_lambda_b", "vera", "vera_lambda_b", None),
    (".vera_lambda_d", "vera", "vera_lambda_d", 0),
    (".vera_A", "vera", "vera_A", None),
    (".vera_B", "vera", "vera_B", None),
    (".oft_R.weight", "oft", "oft_R", None),
    (".oft_r", "oft", "oft_R", None),
    (".boft_R", "boft", "boft_R", None),
    (".boft_s", "boft", "boft_s", None),
    (".token_adapter.trainable_tokens_delta", "lora", "trainable_tokens_delta", None),
)
#: What stands in the names of any adapter: without these, no name is looked at singly.
MARKS = ("lora", "hada_w", "lokr_w", "ia3_l", "vera_lambda", "oft_", "prompt_embeddings")
#: Names that are a whole by themselves.
WHOLE: Mapping[str, str] = dict.fromkeys(("prompt_embeddings", "prefix_task_cols", "prefix_task_rows"), "prompt")
#: A constant beside each pair of kohya's files, no parameter.
ALPHA = ".alpha"
#: Parts that nobody trains: kohya's scale, VeRA's random projections.
CONSTANTS = frozenset({"alpha", "vera_A", "vera_B"})
#: Methods that make the same tensors as another and some of their own.
MORE_THAN: Mapping[str, str] = {"dora": "lora", "adalora": "lora"}

_ANY_END = tuple(end for end, *_ in ENDS)
#: Last words that stand for a role by themselves, and the longest of them.
_TAIL_WORDS = frozenset(tail for tail in TAILS if "." not in tail)
_LONGEST_TAIL = max(map(len, _TAIL_WORDS))
_KOHYA = re.compile(r"^lora_(?:unet|te\d*|transformer|prior_te)_")


def adapter_of(tensors: Sequence[Tensor], config: Mapping[str, Any] | None) -> Adapter | None:
    """The adapter in these tensors; None where none is, or only a few beside a model's own."""
    if config is None:
        text = "\n".join(map(itemgetter(Tensor._fields.index("name")), tensors))
        if not any(mark in text for mark in MARKS):
            return None
    found = [(tensor, *end) for tensor in tensors if (end := _end(tensor.name)) is not None]
    if not found and config is not None:
        found = _by_prefix(tensors, config)
    if not found or (config is None and len(found) * 2 < len(tensors)):
        return None
    methods = {method for _, _, method, _, _ in found if method}
    special = methods - set(MORE_THAN.values()) or methods
    ranks = Counter(t.shape[at] for t, _, _, _, at in found if at is not None and len(t.shape) > at)
    return Adapter(
        method=sorted(special)[0] if special else "",
        served={tensor.name: _served(tensor.name, end) for tensor, end, *_ in found},
        parts={tensor.name: part for tensor, _, _, part, _ in found},
        ranks=dict(sorted(ranks.items())),
        constants=frozenset(tensor.name for tensor, _, _, part, _ in found if part in CONSTANTS),
        config=config or {},
    )


def _by_prefix(tensors: Sequence[Tensor], config: Mapping[str, Any]) -> list[tuple[Tensor, str, str, str, int | None]]:
    """Tensors of a method that no table has, under the name that its configuration gives it."""
    method = str(config.get("peft_type") or "").lower()[:40]
    found: list[tuple[Tensor, str, str, str, int | None]] = []
    for tensor in tensors:
        words = tensor.name.split(".")
        length = 2 if words[-1] in ("weight", "bias") else 1
        if words[0] == "base_model" and len(words) > length + 1:
            found.append((tensor, "." + ".".join(words[-length:]), method, words[-length], None))
    return found


def _end(name: str) -> tuple[str, str, str, int | None] | None:
    if name.endswith(_ANY_END):
        return next(entry for entry in ENDS if name.endswith(entry[0]))
    if name in WHOLE:
        return "", WHOLE[name], name, None
    return (ALPHA, "", "alpha", None) if name.endswith(ALPHA) and _KOHYA.match(name) else None


def _served(name: str, end: str) -> str:
    """The weight that an adapter's tensor changes, under the base model's name."""
    if not end:
        return name + ".weight"
    return _base(name.removesuffix(end))


@lru_cache(maxsize=64)  # the pieces of one weight stand beside each other
def _base(stem: str) -> str:
    stem = stem.removeprefix("base_model.model.").removeprefix("base_model.")
    return (_dotted(stem) if _KOHYA.match(stem) else stem) + ".weight"


def _dotted(stem: str) -> str:
    """`lora_unet_down_blocks_1_attentions_0_attn1_to_q` → `unet_down_blocks.1.attentions.0.attn1.to_q`."""
    stem = re.sub(r"_(\d+)(?=_|$)", r".\1.", stem.removeprefix("lora_")).replace("._", ".").strip(".")
    return ".".join(map(_with_tail, stem.split(".")))


def _with_tail(word: str) -> str:
    """`attn1_to_q` → `attn1.to_q`: the known word at the end set apart."""
    at = word.find("_", max(0, len(word) - _LONGEST_TAIL - 1))
    while at >= 0:
        if word[at + 1 :] in _TAIL_WORDS:
            return f"{word[:at]}.{word[at + 1 :]}"
        at = word.find("_", at + 1)
    return word


def base_names(names: Iterable[str]) -> dict[str, str]:
    """Whole weights saved with an adapter → their names in the base model."""
    renamed = {}
    for name in names:
        bare = name.removeprefix("base_model.model.")
        bare = re.sub(r"\.(base_layer|modules_to_save(\.default)?|original_module)(?=\.)", "", bare)
        if bare != name:
            renamed[name] = bare
    return renamed
