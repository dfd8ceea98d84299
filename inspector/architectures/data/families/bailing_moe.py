"""Ling and Ring, whose code comes with their checkpoints: fused attention, and DeepSeek's mixture of experts."""

from __future__ import annotations

from inspector.architectures.data.families.shared import MIXTURE, MIXTURE_DERIVED
from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
ATTENTION = LAYER + ".attention"

FAMILY = Family(
    name="bailing_moe",
    types={
        "bailing_moe": {},
        "bailing_moe_v2": {"second_version": True},
    },
    rows=(
        Row("embed_tokens", "model.word_embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "qkv_proj",
            ATTENTION + ".query_key_value",
            "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
            bias="use_qkv_bias",
        ),
        Row("o_proj", ATTENTION + ".dense", "hidden_size, num_attention_heads * head_dim", bias="use_bias"),
        Row("q_norm", ATTENTION + ".query_layernorm", "head_dim", when="use_qk_norm"),
        Row("k_norm", ATTENTION + ".key_layernorm", "head_dim", when="use_qk_norm"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        *(row for row in MIXTURE if row.role != "router_bias"),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.expert_bias",
            "n_routed_experts",
            when="score_correction and mlp_layer_types[layer] == 'sparse'",
            leaf="",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "second_version": False,
        "use_bias": False,
        "use_qkv_bias": False,
        "tie_word_embeddings": False,
        "expert_bias": False,
        "moe_layer_freq": 1,
        "n_shared_experts": None,
        "first_k_dense_replace": 0,
    },
    derived={
        **MIXTURE_DERIVED,
        "head_dim": "hidden_size // num_attention_heads",
        "use_qk_norm": "second_version",
        "score_correction": "moe_router_enable_expert_bias",
        "moe_router_enable_expert_bias": "second_version",
    },
    fields={"num_experts": "n_routed_experts", "num_shared_experts": "n_shared_experts"},
)
