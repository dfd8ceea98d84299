"""Model type resnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "resnet.encoder.stages.{layer<len(depths)}"
ENCODER_STAGES_ = "resnet.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"
ENCODER_STAGES__ = "resnet.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}.layer.{subsublayer<2}"
ENCODER_STAGES___ = "resnet.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}.layer.{subsublayer<3}"

FAMILY = Family(
    name="resnet",
    types={"resnet": {}},
    rows=(
        Row(
            "convolution",
            "resnet.embedder.embedder.convolution",
            "embedding_size, num_channels, 7, 7",
            group="embedding",
        ),
        Row("normalization", "resnet.embedder.embedder.normalization", "embedding_size", bias="True"),
        Row(
            "convolution",
            ENCODER_STAGES_ + ".shortcut.convolution",
            "hidden_sizes[layer], hidden_sizes[layer - 1] if layer > 0 else embedding_size, 1, 1",
            when="sublayer == 0",
        ),
        Row(
            "normalization",
            ENCODER_STAGES_ + ".shortcut.normalization",
            "hidden_sizes[layer]",
            bias="True",
            when="sublayer == 0",
        ),
        Row(
            "convolution",
            ENCODER_STAGES_ + ".layer.0.convolution",
            "hidden_sizes[layer] // 4, hidden_sizes[layer] if sublayer > 0 else hidden_sizes[layer - 1] if layer > 0 else embedding_size, 1, 1",
        ),
        Row(
            "convolution",
            ENCODER_STAGES_ + ".layer.1.convolution",
            "hidden_sizes[layer] // 4, hidden_sizes[layer] // 4, 3, 3",
        ),
        Row(
            "convolution",
            ENCODER_STAGES_ + ".layer.2.convolution",
            "hidden_sizes[layer], hidden_sizes[layer] // 4, 1, 1",
        ),
        Row("normalization", ENCODER_STAGES__ + ".normalization", "hidden_sizes[layer] // 4", bias="True"),
        Row(
            "normalization",
            ENCODER_STAGES___ + ".normalization",
            "hidden_sizes[layer]",
            bias="True",
            when="subsublayer == 2",
        ),
        Row(
            "classifier",
            "classifier.{layer<depths[0] - 1}",
            "num_labels, hidden_sizes[-1]",
            bias="True",
            when="layer > 0",
            heads="ForImageClassification",
        ),
        Row(
            "running_mean",
            "resnet.embedder.embedder.normalization.running_mean",
            "embedding_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            "resnet.embedder.embedder.normalization.running_var",
            "embedding_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            "resnet.embedder.embedder.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            ENCODER_STAGES_ + ".shortcut.normalization.running_mean",
            "hidden_sizes[layer]",
            when="sublayer == 0",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            ENCODER_STAGES_ + ".shortcut.normalization.running_var",
            "hidden_sizes[layer]",
            when="sublayer == 0",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES_ + ".shortcut.normalization.num_batches_tracked",
            "",
            when="sublayer == 0",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            ENCODER_STAGES__ + ".normalization.running_mean",
            "hidden_sizes[layer] // 4",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            ENCODER_STAGES___ + ".normalization.running_mean",
            "hidden_sizes[layer]",
            when="subsublayer == 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            ENCODER_STAGES__ + ".normalization.running_var",
            "hidden_sizes[layer] // 4",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            ENCODER_STAGES___ + ".normalization.running_var",
            "hidden_sizes[layer]",
            when="subsublayer == 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES___ + ".normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="resnet.",
    defaults={"depths": [3, 4, 6, 3], "embedding_size": 64, "hidden_sizes": [256, 512, 1024, 2048], "num_channels": 3},
    head="Model",
)
