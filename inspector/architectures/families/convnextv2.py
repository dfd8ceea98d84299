"""Model type convnextv2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "convnextv2.encoder.stages.{layer<num_stages}"
ENCODER_STAGES_ = "convnextv2.encoder.stages.{layer<num_stages}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="convnextv2",
    types={"convnextv2": {}},
    rows=(
        Row(
            "patch_embeddings",
            "convnextv2.embeddings.patch_embeddings",
            "hidden_sizes[0], num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("layernorm", "convnextv2.embeddings.layernorm", "hidden_sizes[0]", bias="True"),
        Row("dwconv", ENCODER_STAGES_ + ".dwconv", "hidden_sizes[layer], 1, 7, 7", bias="True"),
        Row("layernorm", ENCODER_STAGES_ + ".layernorm", "hidden_sizes[layer]", bias="True"),
        Row("pwconv1", ENCODER_STAGES_ + ".pwconv1", "4 * hidden_sizes[layer], hidden_sizes[layer]", bias="True"),
        Row("grn", ENCODER_STAGES_ + ".grn", "1, 1, 1, 4 * hidden_sizes[layer]", group="convolution"),
        Row("grn", ENCODER_STAGES_ + ".grn", "1, 1, 1, 4 * hidden_sizes[layer]", leaf="bias", group="convolution"),
        Row("pwconv2", ENCODER_STAGES_ + ".pwconv2", "hidden_sizes[layer], 4 * hidden_sizes[layer]", bias="True"),
        Row(
            "downsampling_layer",
            ENCODER_STAGES + ".downsampling_layer.0",
            "hidden_sizes[layer - 1]",
            bias="True",
            when="layer > 0",
            group="norm",
        ),
        Row(
            "downsampling_layer",
            ENCODER_STAGES + ".downsampling_layer.1",
            "hidden_sizes[layer], hidden_sizes[layer - 1], 2, 2",
            bias="True",
            when="layer > 0",
            group="convolution",
        ),
        Row("convnextv2_layernorm", "convnextv2.layernorm", "hidden_sizes[-1]", bias="True"),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    prefix="convnextv2.",
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
