"""Model type mobilenet_v1.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layer.{layer}"
MOBILENET_V = "mobilenet_v1.layer.{layer}"

FAMILY = Family(
    name="mobilenet_v1",
    types={"mobilenet_v1": {}},
    rows=(
        Row("convolution", LAYER + ".convolution", ""),
        Row("normalization", LAYER + ".normalization", ""),
        Row("mobilenet_v1_convolution", MOBILENET_V + ".convolution", ""),
        Row("mobilenet_v1_normalization", MOBILENET_V + ".normalization", ""),
        Row("convolution", "conv_stem.convolution", ""),
        Row("normalization", "conv_stem.normalization", ""),
        Row("conv_stem_convolution", "mobilenet_v1.conv_stem.convolution", ""),
        Row("conv_stem_normalization", "mobilenet_v1.conv_stem.normalization", ""),
        Row("classifier", "classifier", ""),
        Row("running_mean", LAYER + ".normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", LAYER + ".normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", LAYER + ".normalization.num_batches_tracked", "", leaf="", buffer=True),
        Row("normalization_running_mean", MOBILENET_V + ".normalization.running_mean", "", leaf="", buffer=True),
        Row("normalization_running_var", MOBILENET_V + ".normalization.running_var", "", leaf="", buffer=True),
        Row(
            "normalization_num_batches_tracked",
            MOBILENET_V + ".normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", "conv_stem.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", "conv_stem.normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", "conv_stem.normalization.num_batches_tracked", "", leaf="", buffer=True),
        Row(
            "normalization_running_mean", "mobilenet_v1.conv_stem.normalization.running_mean", "", leaf="", buffer=True
        ),
        Row("normalization_running_var", "mobilenet_v1.conv_stem.normalization.running_var", "", leaf="", buffer=True),
        Row(
            "normalization_num_batches_tracked",
            "mobilenet_v1.conv_stem.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
