"""Mamba and Falcon-Mamba: state-space layers whose step sizes have a projection of low rank."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.layers.{layer<num_hidden_layers}"
MIXER = LAYER + ".mixer"

FAMILY = Family(
    name="mamba",
    types={"mamba": {}, "falcon_mamba": {}},
    rows=(
        Row("embed_tokens", "backbone.embeddings", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".norm", "hidden_size"),
        Row("in_proj", MIXER + ".in_proj", "2 * intermediate_size, hidden_size", bias="use_bias"),
        Row("conv1d", MIXER + ".conv1d", "intermediate_size, 1, conv_kernel", bias="use_conv_bias"),
        Row("x_proj", MIXER + ".x_proj", "dt_rank + 2 * state_size, intermediate_size"),
        Row("dt_proj", MIXER + ".dt_proj", "intermediate_size, dt_rank", bias="True"),
        Row("A_log", MIXER + ".A_log", "intermediate_size, state_size", leaf=""),
        Row("D", MIXER + ".D", "intermediate_size", leaf=""),
        Row("out_proj", MIXER + ".out_proj", "hidden_size, intermediate_size", bias="use_bias"),
        Row("norm", "backbone.norm_f", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="backbone.",
    defaults={
        "conv_kernel": 4,
        "expand": 2,
        "hidden_size": 768,
        "num_hidden_layers": 32,
        "state_size": 16,
        "tie_word_embeddings": True,
        "time_step_rank": "auto",
        "use_bias": False,
        "use_conv_bias": True,
        "vocab_size": 50280,
    },
    derived={
        "intermediate_size": "int(expand * hidden_size)",
        "dt_rank": "ceil_to(hidden_size, 16) // 16 if time_step_rank == 'auto' else time_step_rank",
    },
)
