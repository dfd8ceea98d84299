"""Mixtral: Llama's attention, and experts in place of the feed-forward."""

from __future__ import annotations

from inspector.architectures.data.families.llama import LLAMA_7B
from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    LAYER,
    NORMS,
)
from inspector.architectures.table import Family, Row

EXPERT = LAYER + ".block_sparse_moe.experts.{expert<num_local_experts}"

FAMILY = Family(
    name="mixtral",
    types={"mixtral": {"num_key_value_heads": 8, "intermediate_size": 14336}},
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        Row("router", LAYER + ".block_sparse_moe.gate", "num_local_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".w1", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={**DECODER_DEFAULTS, **LLAMA_7B, "num_local_experts": 8, "num_experts_per_tok": 2},
    derived=DECODER_DERIVED,
)
