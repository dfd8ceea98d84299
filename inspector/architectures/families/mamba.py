"""Model types mamba, falcon_mamba.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="mamba",
    types={"mamba": {}, "falcon_mamba": {}},
    rows=(
        Row("embeddings", "backbone.embeddings", "vocab_size, hidden_size"),
        Row("norm", LAYER + ".norm", "hidden_size"),
        Row("in_proj", LAYER + ".mixer.in_proj", "2 * intermediate_size, hidden_size", bias="use_bias"),
        Row("conv1d", LAYER + ".mixer.conv1d", "intermediate_size, 1, conv_kernel", bias="use_conv_bias"),
        Row("x_proj", LAYER + ".mixer.x_proj", "time_step_rank + 2 * state_size, intermediate_size"),
        Row("dt_proj", LAYER + ".mixer.dt_proj", "intermediate_size, time_step_rank", bias="True"),
        Row("A_log", LAYER + ".mixer.A_log", "intermediate_size, state_size", leaf=""),
        Row("D", LAYER + ".mixer.D", "intermediate_size", leaf=""),
        Row("out_proj", LAYER + ".mixer.out_proj", "hidden_size, intermediate_size", bias="use_bias"),
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
    derived={"intermediate_size": "hidden_size * expand"},
    gguf=("mamba",),
)
