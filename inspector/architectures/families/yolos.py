"""Model type yolos.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "vit.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="yolos",
    types={"yolos": {}},
    rows=(
        Row("embed_class", "vit.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "detection_tokens",
            "vit.embeddings.detection_tokens",
            "1, num_detection_tokens, hidden_size",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_patches",
            "vit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "vit.embeddings.position_embeddings",
            "1, image_size[0] // patch_size * (image_size[1] // patch_size) + num_detection_tokens + 1, hidden_size",
            leaf="",
        ),
        Row(
            "mid_position_embeddings",
            "vit.encoder.mid_position_embeddings",
            "num_hidden_layers - 1, 1, image_size[0] * image_size[1] // patch_size ** 2 + num_detection_tokens + 1, hidden_size",
            when="use_mid_position_embeddings",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.attention.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="qkv_bias",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row(
            "bbox_predictor",
            "bbox_predictor.layers.{layer<2}",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
            group="head",
        ),
        Row(
            "bbox_predictor",
            "bbox_predictor.layers.{layer<3}",
            "4, hidden_size",
            bias="True",
            when="layer == 2",
            heads="ForObjectDetection",
            group="head",
        ),
        Row(
            "class_labels_classifier",
            "class_labels_classifier.layers.{layer<2}",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "class_labels_classifier",
            "class_labels_classifier.layers.{layer<3}",
            "num_labels + 1, hidden_size",
            bias="True",
            when="layer == 2",
            heads="ForObjectDetection",
        ),
        Row("layernorm", "vit.layernorm", "hidden_size", bias="True"),
        Row("pooler", "vit.pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
    ),
    prefix="vit.",
    defaults={
        "hidden_size": 768,
        "image_size": [512, 864],
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_detection_tokens": 100,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
        "use_mid_position_embeddings": True,
    },
    head="Model",
)
