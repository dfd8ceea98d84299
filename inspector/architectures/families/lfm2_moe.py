"""Model type lfm2_moe.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.feed_forward.experts.{expert<num_experts}"

FAMILY = Family(
    name="lfm2_moe",
    types={"lfm2_moe": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("embedding_norm", "model.embedding_norm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "hidden_size, num_attention_heads * head_dim",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "conv",
            LAYER + ".conv.conv",
            "hidden_size, 1, conv_L_cache",
            bias="conv_bias",
            when="layer_types[layer] == 'conv'",
        ),
        Row("operator_norm", LAYER + ".operator_norm", "hidden_size"),
        Row("q_norm", LAYER + ".self_attn.q_layernorm", "head_dim", when="layer_types[layer] != 'conv'"),
        Row("k_norm", LAYER + ".self_attn.k_layernorm", "head_dim", when="layer_types[layer] != 'conv'"),
        Row(
            "in_proj",
            LAYER + ".conv.in_proj",
            "3 * hidden_size, hidden_size",
            bias="conv_bias",
            when="layer_types[layer] == 'conv'",
        ),
        Row(
            "out_proj",
            LAYER + ".conv.out_proj",
            "hidden_size, hidden_size",
            bias="conv_bias",
            when="layer_types[layer] == 'conv'",
        ),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("router", LAYER + ".feed_forward.gate", "num_experts, hidden_size", when="layer >= num_dense_layers"),
        Row(
            "router_bias",
            LAYER + ".feed_forward.expert_bias",
            "num_experts",
            when="use_expert_bias and layer >= num_dense_layers",
            leaf="",
        ),
        Row("gate_proj", LAYER + ".feed_forward.w1", "intermediate_size, hidden_size", when="layer < num_dense_layers"),
        Row(
            "gate_proj",
            EXPERT + ".w1",
            "moe_intermediate_size, hidden_size",
            when="layer >= num_dense_layers",
            active="num_experts_per_tok",
        ),
        Row("up_proj", LAYER + ".feed_forward.w3", "intermediate_size, hidden_size", when="layer < num_dense_layers"),
        Row(
            "up_proj",
            EXPERT + ".w3",
            "moe_intermediate_size, hidden_size",
            when="layer >= num_dense_layers",
            active="num_experts_per_tok",
        ),
        Row("down_proj", LAYER + ".feed_forward.w2", "hidden_size, intermediate_size", when="layer < num_dense_layers"),
        Row(
            "down_proj",
            EXPERT + ".w2",
            "hidden_size, moe_intermediate_size",
            when="layer >= num_dense_layers",
            active="num_experts_per_tok",
        ),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "conv_L_cache": 3,
        "conv_bias": False,
        "hidden_size": 2048,
        "intermediate_size": 7168,
        "moe_intermediate_size": 1792,
        "num_attention_heads": 32,
        "num_dense_layers": 2,
        "num_experts": 32,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "tie_word_embeddings": True,
        "use_expert_bias": True,
        "vocab_size": 65536,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "layer_types": "['full_attention' if layer % 4 == 2 else 'conv' for layer in range(num_attention_heads)]",
    },
    gguf=("lfm2moe",),
)
