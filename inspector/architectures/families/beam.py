"""Model type beam.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="beam",
    types={"beam": {}},
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
        Row("gate_bias", LAYER + ".self_attn.gate_bias", "num_attention_heads", leaf="", group="attention"),
        Row(
            "self_attn_gate_proj",
            LAYER + ".self_attn.gate_proj",
            "num_attention_heads * head_dim, hidden_size",
            group="feed_forward",
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_experts, hidden_size", when="mlp_layer_types[layer] == 'sparse'"),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.e_score_correction_bias",
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
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 5120,
        "intermediate_size": 20480,
        "moe_intermediate_size": 2560,
        "num_attention_heads": 48,
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 52,
        "num_key_value_heads": 8,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    derived={
        "mlp_layer_types": "['dense' if layer < topk_group - 1 else 'sparse' for layer in range(num_hidden_layers)]"
    },
)
