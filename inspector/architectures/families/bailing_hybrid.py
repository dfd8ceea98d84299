"""Model type bailing_hybrid.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="bailing_hybrid",
    types={"bailing_hybrid": {}},
    rows=(
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".attention.q_proj",
            "num_attention_heads * qk_head_dim if layer_types[layer] == 'full_attention' else num_attention_heads * linear_head_dim, hidden_size",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.k_proj",
            "num_attention_heads * linear_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.v_proj",
            "num_attention_heads * linear_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.dense",
            "hidden_size, num_attention_heads * v_head_dim if layer_types[layer] == 'full_attention' else num_attention_heads * linear_head_dim",
        ),
        Row(
            "b_proj",
            LAYER + ".attention.b_proj",
            "num_attention_heads, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="attention",
        ),
        Row(
            "q_conv1d",
            LAYER + ".attention.q_conv1d",
            "num_attention_heads * linear_head_dim, 1, short_conv_kernel_size",
            when="layer_types[layer] == 'linear_attention'",
            group="attention",
        ),
        Row(
            "k_conv1d",
            LAYER + ".attention.k_conv1d",
            "num_attention_heads * linear_head_dim, 1, short_conv_kernel_size",
            when="layer_types[layer] == 'linear_attention'",
            group="attention",
        ),
        Row(
            "v_conv1d",
            LAYER + ".attention.v_conv1d",
            "num_attention_heads * linear_head_dim, 1, short_conv_kernel_size",
            when="layer_types[layer] == 'linear_attention'",
            group="attention",
        ),
        Row(
            "f_proj",
            LAYER + ".attention.f_proj",
            "num_attention_heads * linear_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="attention",
        ),
        Row(
            "g_proj",
            LAYER + ".attention.g_proj",
            "num_attention_heads if layer_types[layer] == 'full_attention' else num_attention_heads * linear_head_dim, hidden_size",
            group="attention",
        ),
        Row("o_norm", LAYER + ".attention.o_norm", "linear_head_dim", when="layer_types[layer] == 'linear_attention'"),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".attention.kv_a_proj_with_mqa",
            "head_dim + kv_lora_rank, hidden_size",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "kv_a_layernorm",
            LAYER + ".attention.kv_a_layernorm",
            "kv_lora_rank",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "kv_b_proj",
            LAYER + ".attention.kv_b_proj",
            "num_attention_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "A_log",
            LAYER + ".attention.A_log",
            "num_attention_heads",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
        ),
        Row(
            "dt_bias",
            LAYER + ".attention.dt_bias",
            "num_attention_heads * linear_head_dim",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_experts, hidden_size", when="mlp_layer_types[layer] == 'sparse'"),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.expert_bias",
            "num_experts",
            when="mlp_layer_types[layer] == 'sparse'",
            leaf="",
        ),
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
            active="num_experts_per_token",
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
            active="num_experts_per_token",
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
            active="num_experts_per_token",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_experts.gate_proj",
            "num_shared_experts * moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "num_shared_experts * moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, num_shared_experts * moe_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),
        Row("embed_tokens", "model.word_embeddings", "vocab_size, hidden_size", heads="ForCausalLM"),
        Row("embed_tokens_61", "model.embed_tokens", "vocab_size, hidden_size", heads="Model"),
    ),
    prefix="model.",
    defaults={
        "head_dim": 128,
        "hidden_size": 2560,
        "intermediate_size": 6144,
        "kv_lora_rank": 512,
        "linear_head_dim": 128,
        "moe_intermediate_size": 768,
        "num_attention_heads": 32,
        "num_experts": 512,
        "num_experts_per_token": 8,
        "num_hidden_layers": 42,
        "num_shared_experts": 1,
        "qk_nope_head_dim": 128,
        "short_conv_kernel_size": 4,
        "v_head_dim": 128,
        "vocab_size": 157184,
    },
    derived={
        "qk_head_dim": "head_dim + qk_nope_head_dim",
        "layer_types": "['full_attention' if (layer + 1) % layer_group_size == 0 else 'linear_attention' for layer in range(num_hidden_layers)]",
        "mlp_layer_types": "['dense' if layer < first_k_dense_replace else 'sparse' for layer in range(num_hidden_layers)]",
    },
    fields={
        "num_local_experts": "num_experts",
        "num_experts_per_tok": "num_experts_per_token",
        "n_shared_experts": "num_shared_experts",
    },
)
