"""Model type resnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{layer}"
ENCODER_STAGES_ = "encoder.stages.{layer}.layers.{sublayer}"
ENCODER_STAGES__ = "encoder.stages.{layer}.layers.{sublayer}.layer.{subsublayer}"
ENCODER_STAGES___ = "resnet.encoder.stages.{layer}"
ENCODER_STAGES____ = "resnet.encoder.stages.{layer}.layers.{sublayer}"
ENCODER_STAGES_____ = "resnet.encoder.stages.{layer}.layers.{sublayer}.layer.{subsublayer}"

FAMILY = Family(
    name="resnet",
    types={"resnet": {}},
    rows=(
        Row("convolution", "embedder.embedder.convolution", "", group="embedding"),
        Row("normalization", "embedder.embedder.normalization", ""),
        Row("embedder_convolution", "resnet.embedder.embedder.convolution", ""),
        Row("embedder_normalization", "resnet.embedder.embedder.normalization", ""),
        Row("convolution", ENCODER_STAGES_ + ".shortcut.convolution", ""),
        Row("normalization", ENCODER_STAGES_ + ".shortcut.normalization", ""),
        Row("convolution", ENCODER_STAGES__ + ".convolution", ""),
        Row("normalization", ENCODER_STAGES__ + ".normalization", ""),
        Row("shortcut_convolution", ENCODER_STAGES____ + ".shortcut.convolution", ""),
        Row("shortcut_normalization", ENCODER_STAGES____ + ".shortcut.normalization", ""),
        Row("stages_convolution", ENCODER_STAGES_____ + ".convolution", ""),
        Row("stages_normalization", ENCODER_STAGES_____ + ".normalization", ""),
        Row("classifier", "classifier.{at1}", ""),
        Row("running_mean", "embedder.embedder.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", "embedder.embedder.normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", "embedder.embedder.normalization.num_batches_tracked", "", leaf="", buffer=True),
        Row(
            "normalization_running_mean",
            "resnet.embedder.embedder.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var", "resnet.embedder.embedder.normalization.running_var", "", leaf="", buffer=True
        ),
        Row(
            "normalization_num_batches_tracked",
            "resnet.embedder.embedder.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", ENCODER_STAGES_ + ".shortcut.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", ENCODER_STAGES_ + ".shortcut.normalization.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES_ + ".shortcut.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", ENCODER_STAGES__ + ".normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", ENCODER_STAGES__ + ".normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", ENCODER_STAGES__ + ".normalization.num_batches_tracked", "", leaf="", buffer=True),
        Row(
            "normalization_running_mean",
            ENCODER_STAGES____ + ".shortcut.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            ENCODER_STAGES____ + ".shortcut.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            ENCODER_STAGES____ + ".shortcut.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_mean", ENCODER_STAGES_____ + ".normalization.running_mean", "", leaf="", buffer=True
        ),
        Row("normalization_running_var", ENCODER_STAGES_____ + ".normalization.running_var", "", leaf="", buffer=True),
        Row(
            "normalization_num_batches_tracked",
            ENCODER_STAGES_____ + ".normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
