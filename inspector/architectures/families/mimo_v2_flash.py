"""Model type mimo_v2_flash.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<n_routed_experts}"

FAMILY = Family(
    name="mimo_v2_flash",
    types={"mimo_v2_flash": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim if layer_types[layer] == 'full_attention' else 2 * num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * v_head_dim if layer_types[layer] == 'full_attention' else 2 * num_key_value_heads * v_head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * v_head_dim"),
        Row(
            "attention_sink_bias",
            LAYER + ".self_attn.attention_sink_bias",
            "num_attention_heads",
            when="layer_types[layer] == 'sliding_attention'",
            leaf="",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when="mlp_layer_types[layer] == 'sparse'"),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.e_score_correction_bias",
            "n_routed_experts",
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
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 192,
        "hidden_size": 4096,
        "intermediate_size": 16384,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "num_attention_heads": 64,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 48,
        "num_key_value_heads": 4,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 152576,
    },
    derived={
        "layer_types": "['full_attention' if layer == 0 or (layer + 1) % 2 == 0 and (layer + 1) % 3 == 0 else 'sliding_attention' for layer in range(num_hidden_layers)]",
        "mlp_layer_types": "['dense' if layer == 0 else 'sparse' for layer in range(num_hidden_layers)]",
    },
    fields={"num_local_experts": "n_routed_experts"},
)
