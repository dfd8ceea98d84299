"""Model type yolos.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer<num_hidden_layers}"
VIT_ENCODER = "vit.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="yolos",
    types={"yolos": {}},
    rows=(
        Row("input_layernorm", ENCODER + ".layernorm_before", "hidden_size", bias="True", heads="Model"),
        Row(
            "q_proj", ENCODER + ".attention.attention.query", "hidden_size, hidden_size", bias="qkv_bias", heads="Model"
        ),
        Row("k_proj", ENCODER + ".attention.attention.key", "hidden_size, hidden_size", bias="qkv_bias", heads="Model"),
        Row(
            "v_proj", ENCODER + ".attention.attention.value", "hidden_size, hidden_size", bias="qkv_bias", heads="Model"
        ),
        Row("o_proj", ENCODER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", "hidden_size", bias="True", heads="Model"),
        Row("up_proj", ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row(
            "bbox_predictor",
            "bbox_predictor.layers.{layer<num_channels}",
            "4 if layer > 1 else hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
            group="head",
        ),
        Row(
            "class_labels_classifier",
            "class_labels_classifier.layers.{layer<num_channels}",
            "num_labels + 1 if layer > 1 else hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "key_k_proj",
            VIT_ENCODER + ".attention.attention.key",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "query_q_proj",
            VIT_ENCODER + ".attention.attention.query",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "value_v_proj",
            VIT_ENCODER + ".attention.attention.value",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "dense_o_proj",
            VIT_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "dense_up_proj",
            VIT_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            VIT_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "layernorm_before_input_layernorm",
            VIT_ENCODER + ".layernorm_before",
            "hidden_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "dense_down_proj",
            VIT_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "detection_tokens",
            "embeddings.detection_tokens",
            "1, num_detection_tokens, hidden_size",
            heads="Model",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row("embed_positions", "embeddings.position_embeddings", "1, 12345, hidden_size", heads="Model", leaf=""),
        Row(
            "mid_position_embeddings",
            "encoder.mid_position_embeddings",
            "num_hidden_layers - 1, 1, 12393, hidden_size",
            when="use_mid_position_embeddings",
            heads="Model",
            leaf="",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row("pooler", "pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row(
            "cls_token_embed_class",
            "vit.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForObjectDetection",
            leaf="",
        ),
        Row(
            "embeddings_detection_tokens",
            "vit.embeddings.detection_tokens",
            "1, num_detection_tokens, hidden_size",
            heads="ForObjectDetection",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "vit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForObjectDetection",
        ),
        Row(
            "position_embeddings_embed_positions",
            "vit.embeddings.position_embeddings",
            "1, 1829, hidden_size",
            heads="ForObjectDetection",
            leaf="",
        ),
        Row(
            "encoder_mid_position_embeddings",
            "vit.encoder.mid_position_embeddings",
            "num_hidden_layers - 1, 1, 1829, hidden_size",
            heads="ForObjectDetection",
            leaf="",
        ),
        Row("vit_layernorm", "vit.layernorm", "hidden_size", bias="True", heads="ForObjectDetection"),
    ),
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_detection_tokens": 100,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
        "use_mid_position_embeddings": True,
    },
    head="Model",
)
