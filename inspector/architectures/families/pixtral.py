"""Model type pixtral.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pixtral",
    types={"pixtral": {}},
    rows=(
        Row("input_layernorm", LAYER + ".attention_norm", "hidden_size"),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size"),
        Row("o_proj", LAYER + ".attention.o_proj", "hidden_size, hidden_size"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("gate_proj", LAYER + ".feed_forward.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".feed_forward.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".feed_forward.down_proj", "hidden_size, intermediate_size"),
        Row("patch_conv", "patch_conv", "hidden_size, num_channels, patch_size, patch_size"),
        Row("ln_pre", "ln_pre", "hidden_size"),
    ),
    defaults={
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "patch_size": 16,
    },
    head="Model",
)
