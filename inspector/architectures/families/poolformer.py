"""Model type poolformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_BLOCK = "encoder.block.{layer<num_encoder_blocks}"
ENCODER_BLOCK_ = "encoder.block.{layer<num_encoder_blocks}.{at<depths[layer]}"
ENCODER_BLOCK__ = "poolformer.encoder.block.{layer<num_encoder_blocks}"
ENCODER_BLOCK___ = "poolformer.encoder.block.{layer<num_encoder_blocks}.{at<depths[layer]}"

FAMILY = Family(
    name="poolformer",
    types={"poolformer": {}},
    rows=(
        Row(
            "embed_patches",
            "encoder.patch_embeddings.{layer<num_encoder_blocks}.projection",
            "hidden_sizes[layer], hidden_sizes[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
            heads="Model",
        ),
        Row(
            "embed_patches",
            ENCODER_BLOCK_ + ".output.conv1",
            "scaled(hidden_sizes[layer], mlp_ratio), hidden_sizes[layer], 1, 1",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv2",
            ENCODER_BLOCK_ + ".output.conv2",
            "hidden_sizes[layer], scaled(hidden_sizes[layer], mlp_ratio), 1, 1",
            bias="True",
            heads="Model",
        ),
        Row("before_norm", ENCODER_BLOCK_ + ".before_norm", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row("after_norm", ENCODER_BLOCK_ + ".after_norm", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row(
            "layer_scale_1",
            ENCODER_BLOCK_ + ".layer_scale_1",
            "hidden_sizes[layer]",
            when="use_layer_scale",
            heads="Model",
            leaf="",
        ),
        Row(
            "layer_scale_2",
            ENCODER_BLOCK_ + ".layer_scale_2",
            "hidden_sizes[layer]",
            when="use_layer_scale",
            heads="Model",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "poolformer.encoder.patch_embeddings.{layer<num_encoder_blocks}.projection",
            "hidden_sizes[layer], hidden_sizes[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "encoder_layer_scale_1",
            ENCODER_BLOCK___ + ".layer_scale_1",
            "hidden_sizes[layer]",
            heads="ForImageClassification",
            leaf="",
        ),
        Row(
            "encoder_layer_scale_2",
            ENCODER_BLOCK___ + ".layer_scale_2",
            "hidden_sizes[layer]",
            heads="ForImageClassification",
            leaf="",
        ),
        Row(
            "conv1_embed_patches",
            ENCODER_BLOCK___ + ".output.conv1",
            "4 * hidden_sizes[layer], hidden_sizes[layer], 1, 1",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "output_conv2",
            ENCODER_BLOCK___ + ".output.conv2",
            "hidden_sizes[layer], 4 * hidden_sizes[layer], 1, 1",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "encoder_before_norm",
            ENCODER_BLOCK___ + ".before_norm",
            "hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "encoder_after_norm",
            ENCODER_BLOCK___ + ".after_norm",
            "hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("norm", "norm", "hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    defaults={
        "depths": [2, 2, 6, 2],
        "hidden_sizes": [64, 128, 320, 512],
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_encoder_blocks": 4,
        "patch_sizes": [7, 3, 3, 3],
        "use_layer_scale": True,
    },
    head="Model",
)
