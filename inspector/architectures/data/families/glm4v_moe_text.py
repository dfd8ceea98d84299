"""The text model of GLM-4.5V: GLM-4.5's mixture of experts under its own names."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="glm4v_moe_text",
    types={"glm4v_moe_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when="layer >= first_k_dense_replace"),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.e_score_correction_bias",
            "n_routed_experts",
            when="layer >= first_k_dense_replace",
            leaf="",
        ),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj",
            "n_routed_experts, 2 * moe_intermediate_size, hidden_size",
            when="layer >= first_k_dense_replace",
            active="num_experts_per_tok",
            leaf="",
            stacked="n_routed_experts",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            when="layer < first_k_dense_replace",
        ),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", when="layer < first_k_dense_replace"),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            when="layer < first_k_dense_replace",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj",
            "n_routed_experts, hidden_size, moe_intermediate_size",
            when="layer >= first_k_dense_replace",
            active="num_experts_per_tok",
            leaf="",
            stacked="n_routed_experts",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_experts.gate_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            when="layer >= first_k_dense_replace",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            when="layer >= first_k_dense_replace",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, n_shared_experts * moe_intermediate_size",
            when="layer >= first_k_dense_replace",
        ),
        Row("norm", "norm", "hidden_size"),
    ),
    defaults={
        "attention_bias": True,
        "first_k_dense_replace": 1,
        "hidden_size": 4096,
        "intermediate_size": 10944,
        "moe_intermediate_size": 1408,
        "n_routed_experts": 128,
        "n_shared_experts": 1,
        "num_attention_heads": 96,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 46,
        "num_key_value_heads": 8,
        "vocab_size": 151424,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    fields={"num_local_experts": "n_routed_experts"},
    head="Model",
)
