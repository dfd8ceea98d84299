"""Model type laguna.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="laguna",
    types={"laguna": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads_per_layer[layer] * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads_per_layer[layer] * head_dim",
            bias="attention_bias",
        ),
        Row(
            "g_proj",
            LAYER + ".self_attn.g_proj",
            "num_attention_heads_per_layer[layer] if gating else num_attention_heads_per_layer[layer] * head_dim, hidden_size",
            group="attention",
        ),
        Row(
            "e_score_correction",
            LAYER + ".mlp.experts.e_score_correction_bias",
            "num_experts",
            when="mlp_layer_types[layer] == 'sparse'",
            leaf="",
            group="head",
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_experts, hidden_size", when="mlp_layer_types[layer] == 'sparse'"),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_expert.gate_proj",
            "shared_expert_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_expert.up_proj",
            "shared_expert_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_expert.down_proj",
            "hidden_size, shared_expert_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "gating": True,
        "head_dim": 128,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "moe_intermediate_size": 512,
        "num_attention_heads_per_layer": [
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
            48,
        ],
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 40,
        "num_key_value_heads": 8,
        "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False,
        "vocab_size": 100352,
    },
    derived={"mlp_layer_types": "['dense' if layer == 0 else 'sparse' for layer in range(num_hidden_layers)]"},
)
