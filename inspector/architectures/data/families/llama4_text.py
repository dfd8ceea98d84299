"""Llama 4's text model: a mixture of experts in every layer, or in each so many."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="llama4_text",
    types={"llama4_text": {"num_key_value_heads": 8}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
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
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".feed_forward.router", "num_local_experts, hidden_size", when="layer in moe_layers"),
        Row(
            "gate_up_proj",
            LAYER + ".feed_forward.experts.gate_up_proj",
            "num_local_experts, hidden_size, 2 * intermediate_size",
            when="layer in moe_layers",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "gate_proj",
            LAYER + ".feed_forward.gate_proj",
            "intermediate_size_mlp, hidden_size",
            when="layer not in moe_layers",
        ),
        Row(
            "up_proj",
            LAYER + ".feed_forward.up_proj",
            "intermediate_size_mlp, hidden_size",
            when="layer not in moe_layers",
        ),
        Row(
            "down_proj",
            LAYER + ".feed_forward.experts.down_proj",
            "num_local_experts, intermediate_size, hidden_size",
            when="layer in moe_layers",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".feed_forward.down_proj",
            "hidden_size, intermediate_size_mlp",
            when="layer not in moe_layers",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".feed_forward.shared_expert.gate_proj",
            "intermediate_size, hidden_size",
            when="layer in moe_layers",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".feed_forward.shared_expert.up_proj",
            "intermediate_size, hidden_size",
            when="layer in moe_layers",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".feed_forward.shared_expert.down_proj",
            "hidden_size, intermediate_size",
            when="layer in moe_layers",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 5120,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "interleave_moe_layer_step": 1,
        "num_attention_heads": 40,
        "num_experts_per_tok": 1,
        "num_hidden_layers": 48,
        "num_local_experts": 16,
        "tie_word_embeddings": False,
        "vocab_size": 202048,
    },
    derived={
        "num_key_value_heads": "num_attention_heads",
        "moe_layers": (
            "[(number + 1) * interleave_moe_layer_step - 1"
            " for number in range(num_hidden_layers // interleave_moe_layer_step)]"
        ),
    },
)
