"""Model type vivit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "vivit.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vivit",
    types={"vivit": {}},
    rows=(
        Row("embed_class", "vivit.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_patches",
            "vivit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, tubelet_size[0], tubelet_size[1], tubelet_size[2]",
            bias="True",
        ),
        Row(
            "embed_positions",
            "vivit.embeddings.position_embeddings",
            "1, num_frames // tubelet_size[0] * (image_size // tubelet_size[1]) * (image_size // tubelet_size[2]) + 1, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "num_attention_heads * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "k_proj", LAYER + ".attention.attention.key", "num_attention_heads * head_dim, hidden_size", bias="qkv_bias"
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "num_attention_heads * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("layernorm", "vivit.layernorm", "hidden_size", bias="True"),
        Row("pooler", "vivit.pooler.dense", "pooler_output_size, hidden_size", bias="True", heads="Model"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForVideoClassification"),
    ),
    prefix="vivit.",
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_frames": 32,
        "num_hidden_layers": 12,
        "pooler_output_size": 768,
        "qkv_bias": True,
        "tubelet_size": [2, 16, 16],
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
