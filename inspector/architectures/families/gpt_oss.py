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

FAMILY = Family(
    name="gpt_oss",
    types={"gpt_oss": {"attention_bias": True}},
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        Row("sinks", LAYER + ".self_attn.sinks", "num_attention_heads", leaf=""),
        Row("router", LAYER + ".mlp.router", "num_local_experts, hidden_size", bias="True"),
        Row(
            "gate_up_proj", EXPERTS + ".gate_up_proj", "num_local_experts, hidden_size, 2 * intermediate_size", leaf=""
        ),
        Row("gate_up_proj", EXPERTS + ".gate_up_proj_bias", "num_local_experts, 2 * intermediate_size", leaf=""),
        Row("down_proj", EXPERTS + ".down_proj", "num_local_experts, intermediate_size, hidden_size", leaf=""),
        Row("down_proj", EXPERTS + ".down_proj_bias", "num_local_experts, hidden_size", leaf=""),
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
