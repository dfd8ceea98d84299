"""Qwen3-Omni's talker: a mixture with a shared expert in every layer, over the codes of speech."""

from __future__ import annotations

from inspector.architectures.data.families.qwen3_moe import EXPERT
from inspector.architectures.data.families.qwen3_moe import FAMILY as QWEN3_MOE
from inspector.architectures.data.families.shared import ATTENTION, LAYER, NORMS, gated
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="qwen3_omni_moe_talker_text",
    types={"qwen3_omni_moe_talker_text": {}},
    rows=(
        Row("embed_tokens", "model.codec_embedding", "vocab_size, hidden_size"),
        *ATTENTION,
        Row("router", LAYER + ".mlp.gate", "num_local_experts, hidden_size"),
        *gated(EXPERT, "moe_intermediate_size", active="num_experts_per_tok"),
        *gated(LAYER + ".mlp.shared_expert", "shared_expert_intermediate_size", prefix="shared_"),
        Row("shared_expert_gate", LAYER + ".mlp.shared_expert_gate", "1, hidden_size"),
        *NORMS,
    ),
    prefix="model.",
    head="Model",
    defaults={
        **QWEN3_MOE.defaults,
        "hidden_size": 1024,
        "intermediate_size": 2048,
        "moe_intermediate_size": 384,
        "num_attention_heads": 16,
        "num_hidden_layers": 20,
        "num_key_value_heads": 2,
        "vocab_size": 3072,
    },
    derived=QWEN3_MOE.derived,
    fields=QWEN3_MOE.fields,
)
