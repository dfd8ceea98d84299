"""Model type uvdoc.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

RESNET_RESNET_HEAD = "backbone.resnet.resnet_head.{layer}"
RESNET_RESNET_DOWN = "backbone.resnet.resnet_down.{at3}"
RESNET_RESNET_DOWN_ = "backbone.resnet.resnet_down.{at3}.layers.{layer}"
BRIDGE_BRIDGE = "backbone.bridge.bridge.{layer}"
BRIDGE_BRIDGE_ = "backbone.bridge.bridge.{layer}.blocks.{block}"

FAMILY = Family(
    name="uvdoc",
    types={"uvdoc": {}},
    rows=(
        Row("convolution", RESNET_RESNET_HEAD + ".convolution", ""),
        Row("normalization", RESNET_RESNET_HEAD + ".normalization", ""),
        Row("convolution", RESNET_RESNET_DOWN_ + ".conv_start.convolution", ""),
        Row("normalization", RESNET_RESNET_DOWN_ + ".conv_start.normalization", ""),
        Row("conv_final_convolution", RESNET_RESNET_DOWN_ + ".conv_final.convolution", ""),
        Row("conv_final_normalization", RESNET_RESNET_DOWN_ + ".conv_final.normalization", ""),
        Row("conv_down_convolution", RESNET_RESNET_DOWN_ + ".conv_down.convolution", ""),
        Row("conv_down_normalization", RESNET_RESNET_DOWN_ + ".conv_down.normalization", ""),
        Row("bridge_convolution", BRIDGE_BRIDGE_ + ".convolution", ""),
        Row("bridge_normalization", BRIDGE_BRIDGE_ + ".normalization", ""),
        Row("convolution", "head.bridge_connector.convolution", "", group="head"),
        Row("normalization", "head.bridge_connector.normalization", ""),
        Row("conv_down_convolution", "head.out_point_positions2D.conv_down.convolution", "", group="head"),
        Row("conv_down_normalization", "head.out_point_positions2D.conv_down.normalization", ""),
        Row("activation", "head.out_point_positions2D.conv_down.activation", "", group="norm"),
        Row("conv_up", "head.out_point_positions2D.conv_up", "", group="head"),
        Row("running_mean", RESNET_RESNET_HEAD + ".normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", RESNET_RESNET_HEAD + ".normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", RESNET_RESNET_HEAD + ".normalization.num_batches_tracked", "", leaf="", buffer=True),
        Row("running_mean", RESNET_RESNET_DOWN_ + ".conv_start.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", RESNET_RESNET_DOWN_ + ".conv_start.normalization.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            RESNET_RESNET_DOWN_ + ".conv_start.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_mean",
            RESNET_RESNET_DOWN_ + ".conv_final.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            RESNET_RESNET_DOWN_ + ".conv_final.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            RESNET_RESNET_DOWN_ + ".conv_final.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "conv_down_normalization_running_mean",
            RESNET_RESNET_DOWN_ + ".conv_down.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "conv_down_normalization_running_var",
            RESNET_RESNET_DOWN_ + ".conv_down.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "conv_down_normalization_num_batches_tracked",
            RESNET_RESNET_DOWN_ + ".conv_down.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "bridge_normalization_running_mean",
            BRIDGE_BRIDGE_ + ".normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "bridge_normalization_running_var", BRIDGE_BRIDGE_ + ".normalization.running_var", "", leaf="", buffer=True
        ),
        Row(
            "bridge_normalization_num_batches_tracked",
            BRIDGE_BRIDGE_ + ".normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", "head.bridge_connector.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", "head.bridge_connector.normalization.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", "head.bridge_connector.normalization.num_batches_tracked", "", leaf="", buffer=True),
        Row(
            "normalization_running_mean",
            "head.out_point_positions2D.conv_down.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            "head.out_point_positions2D.conv_down.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            "head.out_point_positions2D.conv_down.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
