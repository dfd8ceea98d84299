"""Model type glm_ocr_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<depth}"

FAMILY = Family(
    name="glm_ocr_vision",
    types={"glm_ocr_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "patch_embed.proj",
            "hidden_size, in_channels, temporal_patch_size, patch_size, patch_size",
            bias="True",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="attention_bias"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("q_norm", LAYER + ".attn.q_norm", "hidden_size // num_heads"),
        Row("k_norm", LAYER + ".attn.k_norm", "hidden_size // num_heads"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="attention_bias"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="attention_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="attention_bias"),
        Row("proj", "merger.proj", "out_hidden_size, out_hidden_size"),
        Row("post_projection_norm", "merger.post_projection_norm", "out_hidden_size", bias="True"),
        Row("gate_proj", "merger.gate_proj", "in_channels * out_hidden_size, out_hidden_size"),
        Row("up_proj", "merger.up_proj", "in_channels * out_hidden_size, out_hidden_size"),
        Row("down_proj", "merger.down_proj", "out_hidden_size, in_channels * out_hidden_size"),
        Row(
            "downsample",
            "downsample",
            "out_hidden_size, hidden_size, spatial_merge_size, spatial_merge_size",
            bias="True",
            group="convolution",
        ),
        Row("norm", "post_layernorm", "hidden_size"),
    ),
    defaults={
        "attention_bias": True,
        "depth": 24,
        "hidden_size": 1024,
        "in_channels": 3,
        "intermediate_size": 4096,
        "num_heads": 16,
        "out_hidden_size": 1536,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    },
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "depth"},
    head="Model",
)
