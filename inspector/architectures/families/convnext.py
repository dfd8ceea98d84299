"""Model type convnext.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{layer<num_stages}"
ENCODER_STAGES_ = "encoder.stages.{layer<num_stages}.layers.{sublayer<depths[layer]}"
STAGES_ = "convnext.encoder.stages.0.layers.{layer<num_channels}"
STAGES_ = "convnext.encoder.stages.1.layers.{layer<num_channels}"
STAGES_ = "convnext.encoder.stages.2.layers.{layer<num_channels}"
STAGES_ = "convnext.encoder.stages.3.layers.{layer<num_channels}"

FAMILY = Family(
    name="convnext",
    types={"convnext": {}},
    rows=(
        Row(
            "layer_scale_parameter",
            ENCODER_STAGES_ + ".layer_scale_parameter",
            "hidden_sizes[layer]",
            heads="Model",
            leaf="",
        ),
        Row("dwconv", ENCODER_STAGES_ + ".dwconv", "hidden_sizes[layer], 1, 7, 7", bias="True", heads="Model"),
        Row("layernorm", ENCODER_STAGES_ + ".layernorm", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row(
            "pwconv1",
            ENCODER_STAGES_ + ".pwconv1",
            "4 * hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
            heads="Model",
        ),
        Row(
            "pwconv2",
            ENCODER_STAGES_ + ".pwconv2",
            "hidden_sizes[layer], 4 * hidden_sizes[layer]",
            bias="True",
            heads="Model",
        ),
        Row(
            "stages_layer_scale_parameter",
            STAGES_ + ".layer_scale_parameter",
            "hidden_sizes[0]",
            heads="ForImageClassification",
            leaf="",
            group="convolution",
        ),
        Row(
            "stages_dwconv",
            STAGES_ + ".dwconv",
            "hidden_sizes[0], 1, 7, 7",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("stages_layernorm", STAGES_ + ".layernorm", "hidden_sizes[0]", bias="True", heads="ForImageClassification"),
        Row(
            "stages_pwconv1",
            STAGES_ + ".pwconv1",
            "hidden_sizes[2], hidden_sizes[0]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_pwconv2",
            STAGES_ + ".pwconv2",
            "hidden_sizes[0], hidden_sizes[2]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_layer_scale_parameter",
            STAGES_ + ".layer_scale_parameter",
            "hidden_sizes[1]",
            heads="ForImageClassification",
            leaf="",
            group="convolution",
        ),
        Row(
            "stages_dwconv",
            STAGES_ + ".dwconv",
            "hidden_sizes[1], 1, 7, 7",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("stages_layernorm", STAGES_ + ".layernorm", "hidden_sizes[1]", bias="True", heads="ForImageClassification"),
        Row(
            "stages_pwconv1",
            STAGES_ + ".pwconv1",
            "hidden_sizes[-1], hidden_sizes[1]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_pwconv2",
            STAGES_ + ".pwconv2",
            "hidden_sizes[1], hidden_sizes[-1]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_layer_scale_parameter",
            STAGES_ + ".layer_scale_parameter",
            "hidden_sizes[2]",
            heads="ForImageClassification",
            leaf="",
            group="convolution",
        ),
        Row(
            "stages_dwconv",
            STAGES_ + ".dwconv",
            "hidden_sizes[2], 1, 7, 7",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("stages_layernorm", STAGES_ + ".layernorm", "hidden_sizes[2]", bias="True", heads="ForImageClassification"),
        Row(
            "stages_pwconv1",
            STAGES_ + ".pwconv1",
            "num_stages * hidden_sizes[2], hidden_sizes[2]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_pwconv2",
            STAGES_ + ".pwconv2",
            "hidden_sizes[2], num_stages * hidden_sizes[2]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_layer_scale_parameter",
            STAGES_ + ".layer_scale_parameter",
            "hidden_sizes[-1]",
            heads="ForImageClassification",
            leaf="",
            group="convolution",
        ),
        Row(
            "stages_dwconv",
            STAGES_ + ".dwconv",
            "hidden_sizes[-1], 1, 7, 7",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_layernorm", STAGES_ + ".layernorm", "hidden_sizes[-1]", bias="True", heads="ForImageClassification"
        ),
        Row(
            "stages_pwconv1",
            STAGES_ + ".pwconv1",
            "num_stages * hidden_sizes[-1], hidden_sizes[-1]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_pwconv2",
            STAGES_ + ".pwconv2",
            "hidden_sizes[-1], num_stages * hidden_sizes[-1]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "patch_embeddings",
            "embeddings.patch_embeddings",
            "hidden_sizes[0], num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row("layernorm", "embeddings.layernorm", "hidden_sizes[0]", bias="True", heads="Model"),
        Row("layernorm_13", "layernorm", "hidden_sizes[-1]", bias="True", heads="Model"),
        Row(
            "embeddings_patch_embeddings",
            "convnext.embeddings.patch_embeddings",
            "hidden_sizes[0], num_channels, patch_size, patch_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "embeddings_layernorm",
            "convnext.embeddings.layernorm",
            "hidden_sizes[0]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "convnext_layernorm", "convnext.layernorm", "hidden_sizes[-1]", bias="True", heads="ForImageClassification"
        ),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    defaults={
        "depths": [3, 3, 9, 3],
        "hidden_sizes": [96, 192, 384, 768],
        "num_channels": 3,
        "num_stages": 4,
        "patch_size": 4,
    },
    fields={"num_hidden_layers": "num_stages"},
    head="Model",
)
