"""Model type chmv2: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "head.fusion_layers.{layer<len(post_process_channels)}"

FAMILY = Family(
    name="chmv2",
    types={"chmv2": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="dinov3_vit"),
        Row(
            "convs",
            "head.convs.{layer<len(post_process_channels)}",
            "fusion_hidden_size, post_process_channels[layer], 3, 3",
            group="head",
        ),
        Row(
            "projection",
            LAYER + ".projection",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            group="head",
        ),
        Row(
            "convolution1",
            LAYER + ".residual_layer2.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            group="head",
        ),
        Row(
            "convolution2",
            LAYER + ".residual_layer2.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            group="head",
        ),
        Row(
            "residual_layer1_convolution1",
            LAYER + ".residual_layer1.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            when="layer > 0",
            group="head",
        ),
        Row(
            "residual_layer1_convolution2",
            LAYER + ".residual_layer1.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            when="layer > 0",
            group="head",
        ),
        Row(
            "reassemble_stage_projection",
            "head.reassemble_stage.layers.{layer<len(post_process_channels)}.projection",
            "post_process_channels[layer], backbone_config.hidden_size, 1, 1",
            bias="True",
            group="head",
        ),
        Row(
            "resize",
            "head.reassemble_stage.layers.{layer<len(post_process_channels)}.resize",
            "post_process_channels[layer], post_process_channels[layer], 3 if layer > 1 else reassemble_factors[layer], 3 if layer > 1 else reassemble_factors[layer]",
            bias="True",
            when="backbone_config.out_features[layer] != 'stage18'",
            group="head",
        ),
        Row(
            "readout_projects",
            "head.reassemble_stage.readout_projects.{layer<len(post_process_channels)}.0",
            "backbone_config.hidden_size, 2 * backbone_config.hidden_size",
            bias="True",
            when="readout_type == 'project'",
            group="head",
        ),
        Row("head", "head.conv_depth.head.0", "fusion_hidden_size // 2, fusion_hidden_size, 3, 3", bias="True"),
        Row("head", "head.conv_depth.head.2", "head_hidden_size, fusion_hidden_size // 2, 3, 3", bias="True"),
        Row("head", "head.conv_depth.head.4", "number_output_channels, head_hidden_size, 1, 1", bias="True"),
    ),
    defaults={
        "backbone_config": {"hidden_size": 1024, "out_features": ["stage6", "stage12", "stage18", "stage24"]},
        "fusion_hidden_size": 256,
        "head_hidden_size": 128,
        "number_output_channels": 256,
        "readout_type": "project",
    },
    derived={
        "post_process_channels": "[1024 if layer > 2 else 128 if layer == 0 else 256 if layer == 1 else 512 for layer in range(4)]",
        "reassemble_factors": "[0.5 if layer > 2 else 1 if layer == 2 else 2 if layer == 1 else 4 for layer in range(4)]",
    },
    head="ForDepthEstimation",
)
