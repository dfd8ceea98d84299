"""ERNIE 4.5 VL's vision tower: Qwen2-VL's, over patches that are flattened."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BLOCK = "blocks.{layer<depth}"

FAMILY = Family(
    name="ernie4_5_vl_moe_vision",
    types={"ernie4_5_vl_moe_vision": {}},
    rows=(
        Row("embed_patches", "patch_embed.proj", "hidden_size, in_channels * patch_size ** 2"),
        Row("input_layernorm", BLOCK + ".norm1", "hidden_size", bias="True"),
        Row("qkv_proj", BLOCK + ".attn.qkv", "3 * hidden_size, hidden_size", bias="True"),
        Row("o_proj", BLOCK + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", BLOCK + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", BLOCK + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", BLOCK + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "ln", "hidden_size", bias="True"),
    ),
    head="Model",
    defaults={
        "depth": 32,
        "hidden_size": 1280,
        "in_channels": 3,
        "intermediate_size": 4 * 1280,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_merge_size": 2,
    },
    fields={"num_hidden_layers": "depth"},
)
