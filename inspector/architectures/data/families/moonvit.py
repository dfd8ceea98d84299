"""MoonViT, Kimi-VL's vision tower, whose code comes with its checkpoints: positions in a grid, any resolution."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.blocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="moonvit",
    types={"moonvit": {}},
    rows=(
        Row("embed_patches", "patch_embed.proj", "hidden_size, 3, patch_size, patch_size", bias="True"),
        Row(
            "position_embedding",
            "patch_embed.pos_emb",
            "init_pos_emb_height, init_pos_emb_width, hidden_size",
        ),
        Row("input_layernorm", LAYER + ".norm0", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".wqkv", "3 * hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".wo", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc0", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc1", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "encoder.final_layernorm", "hidden_size", bias="True"),
    ),
    head="Model",
    defaults={
        "hidden_size": 1152,
        "init_pos_emb_height": 64,
        "init_pos_emb_width": 64,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "patch_size": 14,
    },
)
