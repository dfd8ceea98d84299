"""Model type qwen2_5_vl_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<depth}"

FAMILY = Family(
    name="qwen2_5_vl_vision",
    types={"qwen2_5_vl_vision": {}},
    rows=(
        Row(
            "embed_patches", "patch_embed.proj", "hidden_size, in_channels, temporal_patch_size, patch_size, patch_size"
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="True"),
        Row(
            "mlp",
            "merger.mlp.{layer<3}",
            "out_hidden_size if layer > 0 else hidden_size * spatial_merge_size * spatial_merge_size, hidden_size * spatial_merge_size * spatial_merge_size",
            bias="True",
            when="layer % 2 == 0",
        ),
        Row("ln_q", "merger.ln_q", "hidden_size"),
    ),
    defaults={
        "depth": 32,
        "hidden_size": 3584,
        "in_channels": 3,
        "intermediate_size": 3420,
        "out_hidden_size": 3584,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    },
    fields={"num_hidden_layers": "depth"},
    head="Model",
)
