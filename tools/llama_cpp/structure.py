"""Random structures of a small model: flags of its configuration flipped, other numbers of heads and experts.

structure = Structure("LlamaForCausalLM", seed)
structure.changes({"attention_bias": False})    {"attention_bias": True}, or nothing

A structure may be impossible to build or to convert: `tamer` draws again, with fewer changes, down to none.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

#: The probability that a flag is flipped, draw by draw, until a model can be built and converted.
SHARES = (0.35, 0.35, 0.2, 0.1, 0.0)
#: Numbers that decide which tensors a model has, with the values to draw from.
NUMBERS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"num_key_value_heads|num_kv_heads|n_kv_heads", (1, 2, 4)),
    (r"(num|n)_(local_|routed_)?experts|moe_num_experts", (4, 8)),
    (r"(n|num|moe_num)_shared_experts?", (1, 2)),
    (r"first_k_dense_replace|num_dense_layers|moe_layer_start_index", (0, 1, 2)),
    (r"decoder_sparse_step|interleave_moe_layer_step|expert_layer_period", (1, 2)),
    (r"q_lora_rank", (16, 24)),
    (r"type_vocab_size", (1, 2)),
    (r"linear_num_value_heads", (2, 4)),
)
#: Flags that no tensor depends on.
NOT = re.compile("use_cache|output_.*|scale_.*|norm_topk_prob|.*_in_fp32|resid.*in_fp32|causal|is_causal")


class Structure:
    """The changes of one model."""

    def __init__(self, name: str, seed: int, draw: int = 0) -> None:
        self._random = random.Random(f"{name} {seed} {draw}")
        self._of = name, seed, draw
        self._share = SHARES[draw]
        self.reported: list[str] = []

    def tamer(self) -> Structure | None:
        """Another draw with fewer changes; None after the one without any."""
        name, seed, draw = self._of
        return Structure(name, seed, draw + 1) if draw + 1 < len(SHARES) else None

    def changes(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a configuration that get another value."""
        found = {name: self._drawn(name, value) for name, value in fields.items() if _matters(name)}
        found = {name: value for name, value in found.items() if value != fields[name]}
        self.reported += [f"{name}={value}" for name, value in found.items()]
        return found

    def _drawn(self, name: str, value: Any) -> Any:
        if isinstance(value, bool):
            return value != (self._random.random() < self._share)
        choices = next((numbers for pattern, numbers in NUMBERS if re.fullmatch(pattern, name)), ())
        return self._random.choice(choices) if choices and isinstance(value, int) and self._share else value

    def recipe(self, config: dict[str, Any], names: Iterable[str]) -> tuple[dict[str, Any], frozenset[str]]:
        """A recipe's configuration, and its omitted tensors: the head of every second model is its embeddings."""
        heads = frozenset(name for name in names if name.endswith("lm_head.weight"))
        if not heads or not self._share or self._random.random() < 0.5:
            return config, frozenset()
        self.reported.append("tie_word_embeddings=True")
        return {**config, "tie_word_embeddings": True}, heads


def _matters(name: str) -> bool:
    return name not in _common() and not NOT.fullmatch(name)


@cache
def _common() -> frozenset[str]:
    """Fields of every configuration on which no tensor depends, except the head's."""
    from transformers import PretrainedConfig

    return frozenset(PretrainedConfig().to_dict()) - {"tie_word_embeddings"}
