"""Model type upernet: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

DECODE_HEAD_PSP_MODULES = "decode_head.psp_modules.{layer<backbone_config.depths[1]}"
DECODE_HEAD_PSP_MODULES_ = (
    "decode_head.psp_modules.{layer<backbone_config.depths[1]}.{at<backbone_config.depths[0] - 1}"
)
DECODE_HEAD_LATERAL_CONVS = "decode_head.lateral_convs.{layer<backbone_config.depths[0]}"
DECODE_HEAD_FPN_CONVS = "decode_head.fpn_convs.{layer<backbone_config.depths[0]}"

FAMILY = Family(
    name="upernet",
    types={"upernet": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="resnet"),
        Row(
            "conv",
            DECODE_HEAD_PSP_MODULES_ + ".conv",
            "hidden_size, backbone_config.hidden_sizes[3], 1, 1",
            when="at in backbone_config.out_indices",
        ),
        Row(
            "batch_norm",
            DECODE_HEAD_PSP_MODULES_ + ".batch_norm",
            "hidden_size",
            bias="True",
            when="at in backbone_config.out_indices",
        ),
        Row("conv", DECODE_HEAD_LATERAL_CONVS + ".conv", "hidden_size, backbone_config.hidden_sizes[layer], 1, 1"),
        Row("batch_norm", DECODE_HEAD_LATERAL_CONVS + ".batch_norm", "hidden_size", bias="True"),
        Row("fpn_convs_conv", DECODE_HEAD_FPN_CONVS + ".conv", "hidden_size, hidden_size, 3, 3"),
        Row("fpn_convs_batch_norm", DECODE_HEAD_FPN_CONVS + ".batch_norm", "hidden_size", bias="True"),
        Row("classifier", "decode_head.classifier", "num_labels, hidden_size, 1, 1", bias="True"),
        Row(
            "conv",
            "decode_head.bottleneck.conv",
            "hidden_size, backbone_config.hidden_sizes[3] + hidden_size * len(pool_scales), 3, 3",
        ),
        Row("batch_norm", "decode_head.bottleneck.batch_norm", "hidden_size", bias="True"),
        Row("fpn_bottleneck_conv", "decode_head.fpn_bottleneck.conv", "hidden_size, 4 * hidden_size, 3, 3"),
        Row("fpn_bottleneck_batch_norm", "decode_head.fpn_bottleneck.batch_norm", "hidden_size", bias="True"),
        Row("conv", "auxiliary_head.convs.0.conv", "auxiliary_channels, backbone_config.hidden_sizes[2], 3, 3"),
        Row("batch_norm", "auxiliary_head.convs.0.batch_norm", "auxiliary_channels", bias="True"),
        Row(
            "auxiliary_head_classifier",
            "auxiliary_head.classifier",
            "num_labels, auxiliary_channels, 1, 1",
            bias="True",
        ),
        Row(
            "running_mean",
            DECODE_HEAD_PSP_MODULES_ + ".batch_norm.running_mean",
            "hidden_size",
            when="at in backbone_config.out_indices",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            DECODE_HEAD_PSP_MODULES_ + ".batch_norm.running_var",
            "hidden_size",
            when="at in backbone_config.out_indices",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            DECODE_HEAD_PSP_MODULES_ + ".batch_norm.num_batches_tracked",
            "",
            when="at in backbone_config.out_indices",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            DECODE_HEAD_LATERAL_CONVS + ".batch_norm.running_mean",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            DECODE_HEAD_LATERAL_CONVS + ".batch_norm.running_var",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            DECODE_HEAD_LATERAL_CONVS + ".batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "batch_norm_running_mean",
            DECODE_HEAD_FPN_CONVS + ".batch_norm.running_mean",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "batch_norm_running_var",
            DECODE_HEAD_FPN_CONVS + ".batch_norm.running_var",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "batch_norm_num_batches_tracked",
            DECODE_HEAD_FPN_CONVS + ".batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            "decode_head.bottleneck.batch_norm.running_mean",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            "decode_head.bottleneck.batch_norm.running_var",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            "decode_head.bottleneck.batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "batch_norm_running_mean",
            "decode_head.fpn_bottleneck.batch_norm.running_mean",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "batch_norm_running_var",
            "decode_head.fpn_bottleneck.batch_norm.running_var",
            "hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "batch_norm_num_batches_tracked",
            "decode_head.fpn_bottleneck.batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            "auxiliary_head.convs.0.batch_norm.running_mean",
            "auxiliary_channels",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            "auxiliary_head.convs.0.batch_norm.running_var",
            "auxiliary_channels",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            "auxiliary_head.convs.0.batch_norm.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "auxiliary_channels": 256,
        "backbone_config": {
            "depths": [3, 4, 6, 3],
            "hidden_sizes": [256, 512, 1024, 2048],
            "out_indices": [1, 2, 3, 4],
        },
        "hidden_size": 512,
        "pool_scales": [1, 2, 3, 6],
    },
    head="ForSemanticSegmentation",
)
