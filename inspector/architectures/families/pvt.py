"""Model type pvt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_PATCH_EMBEDDINGS = "pvt.encoder.patch_embeddings.{layer<num_encoder_blocks}"
ENCODER_BLOCK = "pvt.encoder.block.{layer<num_encoder_blocks}"
ENCODER_BLOCK_ = "pvt.encoder.block.{layer<num_encoder_blocks}.{at<depths[layer]}"

FAMILY = Family(
    name="pvt",
    types={"pvt": {}},
    rows=(
        Row(
            "embed_positions",
            ENCODER_PATCH_EMBEDDINGS + ".position_embeddings",
            "1, image_size // patch_sizes[0] * (image_size // patch_sizes[0]) if layer == 0 else image_size // 2 ** (layer + 1) // patch_sizes[layer] * (image_size // 2 ** (layer + 1) // patch_sizes[layer]) + 1 if (layer + 1) % num_encoder_blocks == 0 else image_size // 2 ** (layer + 1) // patch_sizes[layer] * (image_size // 2 ** (layer + 1) // patch_sizes[layer]), hidden_sizes[layer]",
            leaf="",
        ),
        Row(
            "embed_patches",
            ENCODER_PATCH_EMBEDDINGS + ".projection",
            "hidden_sizes[layer], hidden_sizes[layer - 1] if layer > 0 else num_channels, strides[layer], strides[layer]",
            bias="True",
        ),
        Row(
            "embed_class",
            ENCODER_PATCH_EMBEDDINGS + ".cls_token",
            "1, 1, hidden_sizes[layer]",
            when="(layer + 1) % num_encoder_blocks == 0",
            leaf="",
        ),
        Row("layer_norm", ENCODER_PATCH_EMBEDDINGS + ".layer_norm", "hidden_sizes[layer]", bias="True"),
        Row(
            "q_proj",
            ENCODER_BLOCK_ + ".attention.self.query",
            "num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer]), hidden_sizes[layer]",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            ENCODER_BLOCK_ + ".attention.self.key",
            "num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer]), hidden_sizes[layer]",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            ENCODER_BLOCK_ + ".attention.self.value",
            "num_attention_heads[layer] * (hidden_sizes[layer] // num_attention_heads[layer]), hidden_sizes[layer]",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            ENCODER_BLOCK_ + ".attention.output.dense",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
        ),
        Row("layer_norm_1", ENCODER_BLOCK_ + ".layer_norm_1", "hidden_sizes[layer]", bias="True"),
        Row(
            "sequence_reduction",
            ENCODER_BLOCK_ + ".attention.self.sequence_reduction",
            "hidden_sizes[layer], hidden_sizes[layer], sequence_reduction_ratios[layer], sequence_reduction_ratios[layer]",
            bias="True",
            when="not (layer > 2)",
            group="attention",
        ),
        Row(
            "layer_norm",
            ENCODER_BLOCK_ + ".attention.self.layer_norm",
            "hidden_sizes[layer]",
            bias="True",
            when="not (layer > 2)",
        ),
        Row("layer_norm_2", ENCODER_BLOCK_ + ".layer_norm_2", "hidden_sizes[layer]", bias="True"),
        Row(
            "dense1",
            ENCODER_BLOCK_ + ".mlp.dense1",
            "hidden_sizes[layer] * mlp_ratios[layer], hidden_sizes[layer]",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "dense2",
            ENCODER_BLOCK_ + ".mlp.dense2",
            "hidden_sizes[layer], hidden_sizes[layer] * mlp_ratios[layer]",
            bias="True",
            group="feed_forward",
        ),
        Row("layer_norm", "pvt.encoder.layer_norm", "hidden_sizes[-1]", bias="True"),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    prefix="pvt.",
    defaults={
        "depths": [2, 2, 2, 2],
        "hidden_sizes": [64, 128, 320, 512],
        "image_size": 224,
        "mlp_ratios": [8, 8, 4, 4],
        "num_attention_heads": [1, 2, 5, 8],
        "num_channels": 3,
        "num_encoder_blocks": 4,
        "patch_sizes": [4, 2, 2, 2],
        "qkv_bias": True,
        "sequence_reduction_ratios": [8, 4, 2, 1],
        "strides": [4, 2, 2, 2],
    },
    head="Model",
)
