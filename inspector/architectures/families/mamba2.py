"""Model type mamba2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="mamba2",
    types={"mamba2": {}},
    rows=(
        Row("embeddings", "backbone.embeddings", "vocab_size, hidden_size"),
        Row("norm", LAYER + ".norm", "hidden_size"),
        Row(
            "in_proj",
            LAYER + ".mixer.in_proj",
            "num_heads + 4 * hidden_size + 2 * n_groups * state_size, hidden_size",
            bias="use_bias",
        ),
        Row(
            "conv1d",
            LAYER + ".mixer.conv1d",
            "2 * hidden_size + 2 * n_groups * state_size, 1, conv_kernel",
            bias="use_conv_bias",
        ),
        Row("A_log", LAYER + ".mixer.A_log", "num_heads", leaf=""),
        Row("D", LAYER + ".mixer.D", "num_heads", leaf=""),
        Row("dt_bias", LAYER + ".mixer.dt_bias", "num_heads", leaf=""),
        Row("ssm_norm", LAYER + ".mixer.norm", "2 * hidden_size"),
        Row("out_proj", LAYER + ".mixer.out_proj", "hidden_size, 2 * hidden_size", bias="use_bias"),
        Row("norm", "backbone.norm_f", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="backbone.",
    defaults={
        "conv_kernel": 4,
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
    gguf=("mamba2",),
)
