"""Model type pp_lcnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.blocks.{layer}"
ENCODER_ = "encoder.blocks.{layer}.layers.{sublayer}"

FAMILY = Family(
    name="pp_lcnet",
    types={"pp_lcnet": {}},
    rows=(
        Row("convolution", ENCODER_ + ".depthwise_convolution.convolution", ""),
        Row("normalization", ENCODER_ + ".depthwise_convolution.normalization", ""),
        Row("pointwise_convolution_convolution", ENCODER_ + ".pointwise_convolution.convolution", ""),
        Row("pointwise_convolution_normalization", ENCODER_ + ".pointwise_convolution.normalization", ""),
        Row("convolutions", ENCODER_ + ".squeeze_excitation_module.convolutions.{convolution}", ""),
        Row("convolution", "encoder.convolution.convolution", ""),
        Row("normalization", "encoder.convolution.normalization", ""),
        Row("last_convolution", "last_convolution", ""),
        Row("head", "head", ""),
        Row("running_mean", ENCODER_ + ".depthwise_convolution.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", ENCODER_ + ".depthwise_convolution.normalization.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            ENCODER_ + ".depthwise_convolution.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_mean",
            ENCODER_ + ".pointwise_convolution.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            ENCODER_ + ".pointwise_convolution.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            ENCODER_ + ".pointwise_convolution.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", "encoder.convolution.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", "encoder.convolution.normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", "encoder.convolution.normalization.num_batches_tracked", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="ForImageClassification",
)
