"""Mamba-2: state-space layers of heads, whose inputs share one projection and one convolution."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.layers.{layer<num_hidden_layers}"
MIXER = LAYER + ".mixer"
STATES = "2 * n_groups * state_size"

FAMILY = Family(
    name="mamba2",
    types={"mamba2": {}},
    rows=(
        Row("embed_tokens", "backbone.embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".norm", "hidden_size"),
        Row("in_proj", MIXER + ".in_proj", f"2 * inner_size + {STATES} + num_heads, hidden_size", bias="use_bias"),
        Row("conv1d", MIXER + ".conv1d", f"inner_size + {STATES}, 1, conv_kernel", bias="use_conv_bias"),
        Row("A_log", MIXER + ".A_log", "num_heads", leaf=""),
        Row("D", MIXER + ".D", "num_heads", leaf=""),
        Row("dt_bias", MIXER + ".dt_bias", "num_heads", leaf=""),
        Row("ssm_norm", MIXER + ".norm", "inner_size"),
        Row("out_proj", MIXER + ".out_proj", "hidden_size, inner_size", bias="use_bias"),
        Row("norm", "backbone.norm_f", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="backbone.",
    defaults={
        "conv_kernel": 4,
        "expand": 2,
        "hidden_size": 4096,
        "n_groups": 8,
        "num_heads": 128,
        "num_hidden_layers": 64,
        "state_size": 128,
        "tie_word_embeddings": False,
        "use_bias": False,
        "use_conv_bias": True,
        "vocab_size": 32768,
    },
    derived={"inner_size": "int(expand * hidden_size)"},
)
