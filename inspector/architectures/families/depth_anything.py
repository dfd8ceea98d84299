"""Model type depth_anything: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "neck.fusion_stage.layers.{layer<len(neck_hidden_sizes)}"

FAMILY = Family(
    name="depth_anything",
    types={"depth_anything": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="dinov2"),
        Row("embed_patches", "head.conv1", "fusion_hidden_size // 2, fusion_hidden_size, 3, 3", bias="True"),
        Row("convs", "neck.convs.{layer<len(neck_hidden_sizes)}", "fusion_hidden_size, neck_hidden_sizes[layer], 3, 3"),
        Row(
            "projection",
            LAYER + ".projection",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "convolution1",
            LAYER + ".residual_layer1.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "convolution2",
            LAYER + ".residual_layer1.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "residual_layer2_convolution1",
            LAYER + ".residual_layer2.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "residual_layer2_convolution2",
            LAYER + ".residual_layer2.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "reassemble_stage_projection",
            "neck.reassemble_stage.layers.{layer<len(neck_hidden_sizes)}.projection",
            "neck_hidden_sizes[layer], reassemble_hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "resize",
            "neck.reassemble_stage.layers.{layer<len(neck_hidden_sizes)}.resize",
            "neck_hidden_sizes[layer], neck_hidden_sizes[layer], 3 if layer > 1 else reassemble_factors[layer], 3 if layer > 1 else reassemble_factors[layer]",
            bias="True",
            when="backbone_config.out_features[layer] != 'stage11'",
            group="convolution",
        ),
        Row("conv2", "head.conv2", "head_hidden_size, fusion_hidden_size // 2, 3, 3", bias="True", group="head"),
        Row("conv3", "head.conv3", "1, head_hidden_size, 1, 1", bias="True", group="head"),
    ),
    defaults={
        "backbone_config": {"out_features": ["stage9", "stage10", "stage11", "stage12"]},
        "fusion_hidden_size": 64,
        "head_hidden_size": 32,
        "neck_hidden_sizes": [48, 96, 192, 384],
        "reassemble_factors": [4, 2, 1, 0.5],
        "reassemble_hidden_size": 384,
    },
    head="ForDepthEstimation",
)
