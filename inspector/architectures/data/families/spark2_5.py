"""Spark 2.5, whose code comes with its checkpoints: fused projections and a gate on each head's output."""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_DEFAULTS, DECODER_DERIVED, LAYER, gated
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="spark2_5",
    types={"spark2_5": {}},
    rows=(
        Row("embed_tokens", "model.embedding", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".self_attn.q_k_v_proj",
            "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "gate_attn",
            LAYER + ".self_attn.g_proj",
            "num_attention_heads, hidden_size",
            bias="attention_bias",
            when="headwise_attn_output_gate",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        *gated(LAYER + ".mlp", "intermediate_size", bias="mlp_bias"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={**DECODER_DEFAULTS, "headwise_attn_output_gate": True},
    derived=DECODER_DERIVED,
)
