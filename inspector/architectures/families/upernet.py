"""Model type upernet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "backbone.encoder.stages.{layer}"
ENCODER_STAGES_ = "backbone.encoder.stages.{layer}.layers.{sublayer}"
ENCODER_STAGES__ = "backbone.encoder.stages.{layer}.layers.{sublayer}.layer.{subsublayer}"
DECODE_HEAD_PSP_MODULES = "decode_head.psp_modules.{layer}"
DECODE_HEAD_PSP_MODULES_ = "decode_head.psp_modules.{layer}.{at3}"
DECODE_HEAD_LATERAL_CONVS = "decode_head.lateral_convs.{layer}"
DECODE_HEAD_FPN_CONVS = "decode_head.fpn_convs.{layer}"
AUXILIARY_HEAD_CONVS = "auxiliary_head.convs.{layer}"

FAMILY = Family(
    name="upernet",
    types={"upernet": {}},
    rows=(
        Row("convolution", "backbone.embedder.embedder.convolution", "", group="embedding"),
        Row("normalization", "backbone.embedder.embedder.normalization", ""),
        Row("convolution", ENCODER_STAGES_ + ".shortcut.convolution", ""),
        Row("normalization", ENCODER_STAGES_ + ".shortcut.normalization", ""),
        Row("convolution", ENCODER_STAGES__ + ".convolution", ""),
        Row("normalization", ENCODER_STAGES__ + ".normalization", ""),
        Row("conv", DECODE_HEAD_PSP_MODULES_ + ".conv", ""),
        Row("batch_norm", DECODE_HEAD_PSP_MODULES_ + ".batch_norm", ""),
        Row("conv", DECODE_HEAD_LATERAL_CONVS + ".conv", ""),
        Row("batch_norm", DECODE_HEAD_LATERAL_CONVS + ".batch_norm", ""),
        Row("fpn_convs_conv", DECODE_HEAD_FPN_CONVS + ".conv", ""),
        Row("fpn_convs_batch_norm", DECODE_HEAD_FPN_CONVS + ".batch_norm", ""),
        Row("convs_conv", AUXILIARY_HEAD_CONVS + ".conv", ""),
        Row("convs_batch_norm", AUXILIARY_HEAD_CONVS + ".batch_norm", ""),
        Row("classifier", "decode_head.classifier", ""),
        Row("conv", "decode_head.bottleneck.conv", ""),
        Row("batch_norm", "decode_head.bottleneck.batch_norm", ""),
        Row("fpn_bottleneck_conv", "decode_head.fpn_bottleneck.conv", ""),
        Row("fpn_bottleneck_batch_norm", "decode_head.fpn_bottleneck.batch_norm", ""),
        Row("conv_cat_conv", "auxiliary_head.conv_cat.conv", ""),
        Row("conv_cat_batch_norm", "auxiliary_head.conv_cat.batch_norm", ""),
        Row("auxiliary_head_classifier", "auxiliary_head.classifier", ""),
        Row("running_mean", "backbone.embedder.embedder.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", "backbone.embedder.embedder.normalization.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            "backbone.embedder.embedder.normalization.num_batches_tracked",
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
        Row("batch_norm_running_mean", DECODE_HEAD_PSP_MODULES_ + ".batch_norm.running_mean", "", leaf="", buffer=True),
        Row("batch_norm_running_var", DECODE_HEAD_PSP_MODULES_ + ".batch_norm.running_var", "", leaf="", buffer=True),
        Row(
            "batch_norm_num_batches_tracked",
            DECODE_HEAD_PSP_MODULES_ + ".batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", DECODE_HEAD_LATERAL_CONVS + ".batch_norm.running_mean", "", leaf="", buffer=True),
        Row("running_var", DECODE_HEAD_LATERAL_CONVS + ".batch_norm.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            DECODE_HEAD_LATERAL_CONVS + ".batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("batch_norm_running_mean", DECODE_HEAD_FPN_CONVS + ".batch_norm.running_mean", "", leaf="", buffer=True),
        Row("batch_norm_running_var", DECODE_HEAD_FPN_CONVS + ".batch_norm.running_var", "", leaf="", buffer=True),
        Row(
            "batch_norm_num_batches_tracked",
            DECODE_HEAD_FPN_CONVS + ".batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convs_batch_norm_running_mean", AUXILIARY_HEAD_CONVS + ".batch_norm.running_mean", "", leaf="", buffer=True
        ),
        Row("convs_batch_norm_running_var", AUXILIARY_HEAD_CONVS + ".batch_norm.running_var", "", leaf="", buffer=True),
        Row(
            "convs_batch_norm_num_batches_tracked",
            AUXILIARY_HEAD_CONVS + ".batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("batch_norm_running_mean", "decode_head.bottleneck.batch_norm.running_mean", "", leaf="", buffer=True),
        Row("batch_norm_running_var", "decode_head.bottleneck.batch_norm.running_var", "", leaf="", buffer=True),
        Row(
            "batch_norm_num_batches_tracked",
            "decode_head.bottleneck.batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "fpn_bottleneck_batch_norm_running_mean",
            "decode_head.fpn_bottleneck.batch_norm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "fpn_bottleneck_batch_norm_running_var",
            "decode_head.fpn_bottleneck.batch_norm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "fpn_bottleneck_batch_norm_num_batches_tracked",
            "decode_head.fpn_bottleneck.batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "conv_cat_batch_norm_running_mean",
            "auxiliary_head.conv_cat.batch_norm.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "conv_cat_batch_norm_running_var",
            "auxiliary_head.conv_cat.batch_norm.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "conv_cat_batch_norm_num_batches_tracked",
            "auxiliary_head.conv_cat.batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="ForSemanticSegmentation",
)
