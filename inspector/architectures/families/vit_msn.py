"""Model type vit_msn.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vit_msn",
    types={"vit_msn": {}},
    rows=(
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.attention.key",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.output.dense",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="True",
        ),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="Model",
            leaf="",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForImageClassification"),
        Row(
            "cls_token_embed_class",
            "vit.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForImageClassification",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "vit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "position_embeddings_embed_positions",
            "vit.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="ForImageClassification",
            leaf="",
        ),
        Row("vit_layernorm", "vit.layernorm", "hidden_size", bias="True", heads="ForImageClassification"),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
    },
    head="Model",
)
