"""Model type jamba.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.feed_forward.experts.{expert<num_experts}"

FAMILY = Family(
    name="jamba",
    types={"jamba": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            when="layer % attn_layer_period == attn_layer_offset",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer % attn_layer_period == attn_layer_offset",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer % attn_layer_period == attn_layer_offset",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            when="layer % attn_layer_period == attn_layer_offset",
        ),
        Row(
            "b_layernorm",
            LAYER + ".mamba.b_layernorm",
            "mamba_d_state",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "c_layernorm",
            LAYER + ".mamba.c_layernorm",
            "mamba_d_state",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "dt_layernorm",
            LAYER + ".mamba.dt_layernorm",
            "mamba_dt_rank",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "in_proj",
            LAYER + ".mamba.in_proj",
            "2 * hidden_size * mamba_expand, hidden_size",
            bias="mamba_proj_bias",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "conv1d",
            LAYER + ".mamba.conv1d",
            "hidden_size * mamba_expand, 1, mamba_d_conv",
            bias="mamba_conv_bias",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "x_proj",
            LAYER + ".mamba.x_proj",
            "mamba_dt_rank + 2 * mamba_d_state, hidden_size * mamba_expand",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "dt_proj",
            LAYER + ".mamba.dt_proj",
            "hidden_size * mamba_expand, mamba_dt_rank",
            bias="True",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row(
            "A_log",
            LAYER + ".mamba.A_log",
            "2 * hidden_size if mamba_expand == 2 else 32 * 3 * mamba_expand, mamba_d_state",
            when="layer % attn_layer_period != attn_layer_offset",
            leaf="",
        ),
        Row(
            "D",
            LAYER + ".mamba.D",
            "hidden_size * mamba_expand",
            when="layer % attn_layer_period != attn_layer_offset",
            leaf="",
        ),
        Row(
            "out_proj",
            LAYER + ".mamba.out_proj",
            "hidden_size, hidden_size * mamba_expand",
            bias="mamba_proj_bias",
            when="layer % attn_layer_period != attn_layer_offset",
        ),
        Row("pre_feedforward_layernorm", LAYER + ".pre_ff_layernorm", "hidden_size"),
        Row(
            "router",
            LAYER + ".feed_forward.router",
            "num_experts, hidden_size",
            when="num_experts and layer % expert_layer_period == expert_layer_offset",
        ),
        Row(
            "gate_proj",
            LAYER + ".feed_forward.gate_proj",
            "intermediate_size, hidden_size",
            when="layer % expert_layer_period != expert_layer_offset or not num_experts",
        ),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "intermediate_size, hidden_size",
            when="layer % expert_layer_period == expert_layer_offset",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".feed_forward.up_proj",
            "intermediate_size, hidden_size",
            when="layer % expert_layer_period != expert_layer_offset or not num_experts",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "intermediate_size, hidden_size",
            when="layer % expert_layer_period == expert_layer_offset",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".feed_forward.down_proj",
            "hidden_size, intermediate_size",
            when="layer % expert_layer_period != expert_layer_offset or not num_experts",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, intermediate_size",
            when="layer % expert_layer_period == expert_layer_offset",
            active="num_experts_per_tok",
        ),
        Row("norm", "model.final_layernorm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attn_layer_offset": 4,
        "attn_layer_period": 8,
        "expert_layer_offset": 1,
        "expert_layer_period": 2,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_state": 16,
        "mamba_dt_rank": "auto",
        "mamba_expand": 2,
        "mamba_proj_bias": False,
        "num_attention_heads": 32,
        "num_experts": 16,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "tie_word_embeddings": False,
        "vocab_size": 65536,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    fields={"num_local_experts": "num_experts"},
    gguf=("jamba",),
)
