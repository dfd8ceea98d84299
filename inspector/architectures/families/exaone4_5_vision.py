"""Model type exaone4_5_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<depth}"

FAMILY = Family(
    name="exaone4_5_vision",
    types={"exaone4_5_vision": {}},
    rows=(
        Row(
            "embed_patches", "patch_embed.proj", "hidden_size, in_channels, temporal_patch_size, patch_size, patch_size"
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "hidden_size // num_heads * num_heads + 2 * (hidden_size // num_heads) * num_key_value_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="True"),
        Row("ln_q", "merger.ln_q", "hidden_size"),
        Row(
            "mlp",
            "merger.mlp.0",
            "hidden_size * spatial_merge_size ** 2, hidden_size * spatial_merge_size ** 2",
            bias="True",
        ),
        Row("mlp", "merger.mlp.2", "out_hidden_size, hidden_size * spatial_merge_size ** 2", bias="True"),
    ),
    defaults={
        "depth": 32,
        "hidden_size": 3584,
        "in_channels": 3,
        "intermediate_size": 3420,
        "num_heads": 16,
        "num_key_value_heads": 8,
        "out_hidden_size": 3584,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    },
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "depth"},
    head="Model",
)
