"""Step 3.5's vision tower: layers whose outputs are scaled, and two convolutions after them."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BLOCK = "transformer.resblocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="step3p5_vision",
    types={"step3p5_vision": {}},
    rows=(
        Row("embed_patches", "conv1", "hidden_size, num_channels, patch_size, patch_size"),
        Row("embed_positions", "positional_embedding", "(image_size // patch_size) ** 2, hidden_size", leaf=""),
        Row("embed_norm", "ln_pre", "hidden_size", bias="True"),
        Row("input_layernorm", BLOCK + ".ln_1", "hidden_size", bias="True"),
        Row("qkv_proj", BLOCK + ".attn.in_proj_weight", "3 * hidden_size, hidden_size", bias="True", leaf=""),
        Row("o_proj", BLOCK + ".attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("attention_scale", BLOCK + ".ls_1.gamma", "hidden_size", leaf=""),
        Row("post_attention_layernorm", BLOCK + ".ln_2", "hidden_size", bias="True"),
        Row("up_proj", BLOCK + ".mlp.c_fc", "scaled(hidden_size, mlp_ratio), hidden_size", bias="True"),
        Row("down_proj", BLOCK + ".mlp.c_proj", "hidden_size, scaled(hidden_size, mlp_ratio)", bias="True"),
        Row("mlp_scale", BLOCK + ".ls_2.gamma", "hidden_size", leaf=""),
        Row("downsample_conv1", "vit_downsampler1", "2 * hidden_size, hidden_size, 3, 3", bias="True"),
        Row("downsample_conv2", "vit_downsampler2", "4 * hidden_size, 2 * hidden_size, 3, 3", bias="True"),
    ),
    head="Model",
    defaults={
        "hidden_size": 1536,
        "image_size": 728,
        "mlp_ratio": 8960 / 1536,
        "num_channels": 3,
        "num_hidden_layers": 47,
        "patch_size": 14,
    },
    fields={"width": "hidden_size", "layers": "num_hidden_layers"},  # words of the published configuration
)
