"""gpt-oss: attention sinks, and all experts of a layer in one tensor, stored [experts, in, out]."""

from __future__ import annotations

from inspector.architectures.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    LAYER,
    NORMS,
)
from inspector.architectures.table import Family, Row

EXPERTS = LAYER + ".mlp.experts"


def expert(role: str, name: str, shape: str) -> Row:
    """A tensor that holds a piece of every expert."""
    return Row(role, EXPERTS + name, shape, leaf="", active="num_experts_per_tok")


FAMILY = Family(
    name="gpt_oss",
    types={"gpt_oss": {"attention_bias": True}},
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        Row("sinks", LAYER + ".self_attn.sinks", "num_attention_heads", leaf=""),
        Row("router", LAYER + ".mlp.router", "num_local_experts, hidden_size", bias="True"),
        expert("gate_up_proj", ".gate_up_proj", "num_local_experts, hidden_size, 2 * intermediate_size"),
        expert("gate_up_proj", ".gate_up_proj_bias", "num_local_experts, 2 * intermediate_size"),
        expert("down_proj", ".down_proj", "num_local_experts, intermediate_size, hidden_size"),
        expert("down_proj", ".down_proj_bias", "num_local_experts, hidden_size"),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "head_dim": 64,
        "num_key_value_heads": 8,
    },
    derived={key: value for key, value in DECODER_DERIVED.items() if key not in ("head_dim", "num_key_value_heads")},
)
