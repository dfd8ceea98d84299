"""Model type pp_ocrv5_mobile_det.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BACKBONE_ENCODER = "model.backbone.encoder.blocks.{layer}"
BACKBONE_ENCODER_ = "model.backbone.encoder.blocks.{layer}.layers.{sublayer}"
DEPTHWISE_CONVOLUTION_CONV_SYMMETRIC = (
    "model.backbone.encoder.blocks.{layer}.layers.{sublayer}.depthwise_convolution.conv_symmetric.{conv_symmetric}"
)
POINTWISE_CONVOLUTION_CONV_SYMMETRIC = (
    "model.backbone.encoder.blocks.{layer}.layers.{sublayer}.pointwise_convolution.conv_symmetric.{conv_symmetric}"
)
NECK_INSERT_CONV = "model.neck.insert_conv.{layer}"
NECK_INPUT_CONV = "model.neck.input_conv.{layer}"

FAMILY = Family(
    name="pp_ocrv5_mobile_det",
    types={"pp_ocrv5_mobile_det": {}},
    rows=(
        Row("identity", BACKBONE_ENCODER_ + ".depthwise_convolution.identity", "", group="norm"),
        Row("convolution", DEPTHWISE_CONVOLUTION_CONV_SYMMETRIC + ".convolution", ""),
        Row("normalization", DEPTHWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization", ""),
        Row("convolution", BACKBONE_ENCODER_ + ".depthwise_convolution.conv_small_symmetric.convolution", ""),
        Row("normalization", BACKBONE_ENCODER_ + ".depthwise_convolution.conv_small_symmetric.normalization", ""),
        Row("scale", BACKBONE_ENCODER_ + ".depthwise_convolution.lab.scale", "", leaf="", group="convolution"),
        Row("lab", BACKBONE_ENCODER_ + ".depthwise_convolution.lab", "", leaf="bias", group="convolution"),
        Row("lab_scale", BACKBONE_ENCODER_ + ".depthwise_convolution.act.lab.scale", "", leaf="", group="convolution"),
        Row("act_lab", BACKBONE_ENCODER_ + ".depthwise_convolution.act.lab", "", leaf="bias", group="convolution"),
        Row("conv_symmetric_convolution", POINTWISE_CONVOLUTION_CONV_SYMMETRIC + ".convolution", ""),
        Row("conv_symmetric_normalization", POINTWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization", ""),
        Row("pointwise_convolution_lab_scale", BACKBONE_ENCODER_ + ".pointwise_convolution.lab.scale", "", leaf=""),
        Row("pointwise_convolution_lab", BACKBONE_ENCODER_ + ".pointwise_convolution.lab", "", leaf="bias"),
        Row(
            "act_lab_scale",
            BACKBONE_ENCODER_ + ".pointwise_convolution.act.lab.scale",
            "",
            leaf="",
            group="convolution",
        ),
        Row("pointwise_convolution_act_lab", BACKBONE_ENCODER_ + ".pointwise_convolution.act.lab", "", leaf="bias"),
        Row("pointwise_convolution_identity", BACKBONE_ENCODER_ + ".pointwise_convolution.identity", "", group="norm"),
        Row("convolutions", BACKBONE_ENCODER_ + ".squeeze_excitation_module.convolutions.{convolution}", ""),
        Row("layer", "model.layer.{layer}", "", group="convolution"),
        Row("embed_patches", NECK_INSERT_CONV + ".squeeze_excitation_block.conv1", ""),
        Row("in_conv", NECK_INSERT_CONV + ".in_conv", ""),
        Row("conv2", NECK_INSERT_CONV + ".squeeze_excitation_block.conv2", ""),
        Row("input_conv_in_conv", NECK_INPUT_CONV + ".in_conv", ""),
        Row("conv1_embed_patches", NECK_INPUT_CONV + ".squeeze_excitation_block.conv1", ""),
        Row("squeeze_excitation_block_conv2", NECK_INPUT_CONV + ".squeeze_excitation_block.conv2", ""),
        Row("convolution", "model.backbone.encoder.convolution.convolution", ""),
        Row("normalization", "model.backbone.encoder.convolution.normalization", ""),
        Row("conv_down_convolution", "head.conv_down.convolution", "", group="head"),
        Row("norm", "head.conv_down.norm", ""),
        Row("conv_up_convolution", "head.conv_up.convolution", "", group="head"),
        Row("conv_up_norm", "head.conv_up.norm", ""),
        Row("conv_final", "head.conv_final", "", group="head"),
        Row("conv_final", "head.conv_final", "", leaf="bias", group="head"),
        Row(
            "running_mean", BACKBONE_ENCODER_ + ".depthwise_convolution.identity.running_mean", "", leaf="", buffer=True
        ),
        Row("running_var", BACKBONE_ENCODER_ + ".depthwise_convolution.identity.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            BACKBONE_ENCODER_ + ".depthwise_convolution.identity.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_mean",
            DEPTHWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_var", DEPTHWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization.running_var", "", leaf="", buffer=True
        ),
        Row(
            "num_batches_tracked",
            DEPTHWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_mean",
            BACKBONE_ENCODER_ + ".depthwise_convolution.conv_small_symmetric.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            BACKBONE_ENCODER_ + ".depthwise_convolution.conv_small_symmetric.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            BACKBONE_ENCODER_ + ".depthwise_convolution.conv_small_symmetric.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_mean",
            POINTWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            POINTWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            POINTWISE_CONVOLUTION_CONV_SYMMETRIC + ".normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "identity_running_mean",
            BACKBONE_ENCODER_ + ".pointwise_convolution.identity.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "identity_running_var",
            BACKBONE_ENCODER_ + ".pointwise_convolution.identity.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "identity_num_batches_tracked",
            BACKBONE_ENCODER_ + ".pointwise_convolution.identity.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", "model.backbone.encoder.convolution.normalization.running_mean", "", leaf="", buffer=True),
        Row("running_var", "model.backbone.encoder.convolution.normalization.running_var", "", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            "model.backbone.encoder.convolution.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row("norm_running_mean", "head.conv_down.norm.running_mean", "", leaf="", buffer=True),
        Row("norm_running_var", "head.conv_down.norm.running_var", "", leaf="", buffer=True),
        Row("norm_num_batches_tracked", "head.conv_down.norm.num_batches_tracked", "", leaf="", buffer=True),
        Row("conv_up_norm_running_mean", "head.conv_up.norm.running_mean", "", leaf="", buffer=True),
        Row("conv_up_norm_running_var", "head.conv_up.norm.running_var", "", leaf="", buffer=True),
        Row("conv_up_norm_num_batches_tracked", "head.conv_up.norm.num_batches_tracked", "", leaf="", buffer=True),
    ),
    prefix="model.",
    names_only=True,
    head="ForObjectDetection",
)
