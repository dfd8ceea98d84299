"""Model type falcon_h1.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="falcon_h1",
    types={"falcon_h1": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
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
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "in_proj",
            LAYER + ".mamba.in_proj",
            "2 * mamba_d_ssm + 2 * mamba_n_groups * mamba_d_state + mamba_n_heads, hidden_size",
            bias="mamba_proj_bias",
        ),
        Row(
            "conv1d",
            LAYER + ".mamba.conv1d",
            "mamba_d_ssm + 2 * mamba_n_groups * mamba_d_state, 1, mamba_d_conv",
            bias="mamba_conv_bias",
        ),
        Row("A_log", LAYER + ".mamba.A_log", "mamba_n_heads", leaf=""),
        Row("D", LAYER + ".mamba.D", "mamba_n_heads", leaf=""),
        Row("dt_bias", LAYER + ".mamba.dt_bias", "mamba_n_heads", leaf=""),
        Row("ssm_norm", LAYER + ".mamba.norm", "mamba_d_ssm", when="mamba_rms_norm"),
        Row("out_proj", LAYER + ".mamba.out_proj", "hidden_size, mamba_d_ssm", bias="projectors_bias"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_ff_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".feed_forward.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", LAYER + ".feed_forward.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".feed_forward.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "model.final_layernorm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_ssm": 1024,
        "mamba_d_state": 256,
        "mamba_n_groups": 1,
        "mamba_n_heads": 128,
        "mamba_proj_bias": False,
        "mamba_rms_norm": False,
        "mlp_bias": False,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "projectors_bias": False,
        "tie_word_embeddings": False,
        "vocab_size": 128000,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    gguf=("falcon-h1",),
)
