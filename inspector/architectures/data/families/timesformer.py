"""Model type timesformer.

Positions are those of a frame's patches and, unless attention is in space alone, those of frames.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer<num_hidden_layers}"
TIMESFORMER_ENCODER = "timesformer.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="timesformer",
    types={"timesformer": {}},
    rows=(
        Row("input_layernorm", ENCODER + ".layernorm_before", "hidden_size", bias="True", heads="Model"),
        Row("o_proj", ENCODER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", heads="Model"),
        Row(
            "qkv", ENCODER + ".attention.attention.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias", heads="Model"
        ),
        Row(
            "temporal_layernorm",
            ENCODER + ".temporal_layernorm",
            "hidden_size",
            bias="True",
            when="attention_type == 'divided_space_time'",
            heads="Model",
        ),
        Row(
            "attention_qkv",
            ENCODER + ".temporal_attention.attention.qkv",
            "3 * hidden_size, hidden_size",
            bias="qkv_bias",
            when="attention_type == 'divided_space_time'",
            heads="Model",
        ),
        Row(
            "dense_down_proj",
            ENCODER + ".temporal_attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="attention_type == 'divided_space_time'",
            heads="Model",
        ),
        Row(
            "temporal_dense",
            ENCODER + ".temporal_dense",
            "hidden_size, hidden_size",
            bias="True",
            when="attention_type == 'divided_space_time'",
            heads="Model",
            group="feed_forward",
        ),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", "hidden_size", bias="True", heads="Model"),
        Row("up_proj", ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row(
            "attention_attention_qkv",
            TIMESFORMER_ENCODER + ".attention.attention.qkv",
            "3 * hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "dense_o_proj",
            TIMESFORMER_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "dense_up_proj",
            TIMESFORMER_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "output_dense_down_proj",
            TIMESFORMER_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "layernorm_before_input_layernorm",
            TIMESFORMER_ENCODER + ".layernorm_before",
            "hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            TIMESFORMER_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "encoder_temporal_layernorm",
            TIMESFORMER_ENCODER + ".temporal_layernorm",
            "hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "temporal_attention_attention_qkv",
            TIMESFORMER_ENCODER + ".temporal_attention.attention.qkv",
            "3 * hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "temporal_attention_output_dense_down_proj",
            TIMESFORMER_ENCODER + ".temporal_attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
            group="feed_forward",
        ),
        Row(
            "encoder_temporal_dense",
            TIMESFORMER_ENCODER + ".temporal_dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
            group="feed_forward",
        ),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="Model",
            leaf="",
        ),
        Row(
            "time_embeddings",
            "embeddings.time_embeddings",
            "1, num_frames, hidden_size",
            when="attention_type != 'space_only'",
            heads="Model",
            leaf="",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row(
            "cls_token_embed_class",
            "timesformer.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForVideoClassification",
            leaf="",
        ),
        Row(
            "position_embeddings_embed_positions",
            "timesformer.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="ForVideoClassification",
            leaf="",
        ),
        Row(
            "embeddings_time_embeddings",
            "timesformer.embeddings.time_embeddings",
            "1, num_frames, hidden_size",
            when="attention_type != 'space_only'",
            heads="ForVideoClassification",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "timesformer.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "timesformer_layernorm", "timesformer.layernorm", "hidden_size", bias="True", heads="ForVideoClassification"
        ),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForVideoClassification"),
    ),
    defaults={
        "attention_type": "divided_space_time",
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_frames": 8,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
    },
    head="Model",
)
