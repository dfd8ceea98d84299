"""ERNIE 4.5's mixtures of experts."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<moe_num_experts}"

FAMILY = Family(
    name="ernie4_5_moe",
    types={"ernie4_5_moe": {"num_key_value_heads": 4}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="use_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="use_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="use_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="use_bias",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "router",
            LAYER + ".mlp.gate",
            "moe_num_experts, hidden_size",
            when="layer in sparse_layers",
        ),
        Row(
            "router_bias",
            LAYER + ".mlp.moe_statics.e_score_correction_bias",
            "1, moe_num_experts",
            when="layer in sparse_layers",
            leaf="",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            bias="use_bias",
            when="layer not in sparse_layers",
        ),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when="layer in sparse_layers",
            active="moe_k",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            bias="use_bias",
            when="layer not in sparse_layers",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "moe_intermediate_size, hidden_size",
            when="layer in sparse_layers",
            active="moe_k",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            bias="use_bias",
            when="layer not in sparse_layers",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when="layer in sparse_layers",
            active="moe_k",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_experts.gate_proj",
            "moe_num_shared_experts * moe_intermediate_size, hidden_size",
            bias="use_bias",
            when="moe_num_shared_experts and layer in sparse_layers",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "moe_num_shared_experts * moe_intermediate_size, hidden_size",
            bias="use_bias",
            when="moe_num_shared_experts and layer in sparse_layers",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, moe_num_shared_experts * moe_intermediate_size",
            bias="use_bias",
            when="moe_num_shared_experts and layer in sparse_layers",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("lm_head", "lm_head", "vocab_size", when="use_bias", heads="ForCausalLM", leaf="bias"),
    ),
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "last_moe_layer": "num_hidden_layers - 1 if moe_layer_end_index == -1 else moe_layer_end_index",
        "sparse_layers": (
            "[layer if moe_layer_start_index <= layer <= last_moe_layer and (layer + 1) % moe_layer_interval == 0 else -1"
            " for layer in range(num_hidden_layers)]"
        ),
    },
    prefix="model.",
    defaults={
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "moe_intermediate_size": 1536,
        "moe_k": 6,
        "moe_layer_end_index": -1,
        "moe_layer_interval": 1,
        "moe_layer_start_index": 1,
        "moe_num_experts": 64,
        "moe_num_shared_experts": 2,
        "num_attention_heads": 20,
        "num_hidden_layers": 28,
        "tie_word_embeddings": True,
        "use_bias": False,
        "vocab_size": 103424,
    },
    fields={"num_experts": "moe_num_experts", "num_experts_per_tok": "moe_k"},
)
