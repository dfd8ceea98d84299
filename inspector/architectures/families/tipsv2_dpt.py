"""Model type tipsv2_dpt: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

DEPTH_HEAD_FUSION_BLOCKS = "depth_head.fusion_blocks.{layer<len(neck_hidden_sizes)}"
SEGMENTATION_HEAD_FUSION_BLOCKS = "segmentation_head.fusion_blocks.{layer<len(neck_hidden_sizes)}"

FAMILY = Family(
    name="tipsv2_dpt",
    types={"tipsv2_dpt": {}},
    rows=(
        Include("backbone_config", "vision_encoder.", tower="vision", head="Model", default_type="tipsv2_vision_model"),
        Row(
            "convs",
            "depth_head.convs.{layer<len(neck_hidden_sizes)}",
            "fusion_hidden_size, neck_hidden_sizes[layer], 3, 3",
            heads="ForDepthEstimation",
        ),
        Row(
            "embed_patches",
            DEPTH_HEAD_FUSION_BLOCKS + ".main_unit.conv1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            heads="ForDepthEstimation",
        ),
        Row(
            "out_conv",
            DEPTH_HEAD_FUSION_BLOCKS + ".out_conv",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "conv2",
            DEPTH_HEAD_FUSION_BLOCKS + ".main_unit.conv2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            heads="ForDepthEstimation",
        ),
        Row(
            "conv1_embed_patches",
            DEPTH_HEAD_FUSION_BLOCKS + ".residual_unit.conv1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            when="layer > 0",
            heads="ForDepthEstimation",
        ),
        Row(
            "residual_unit_conv2",
            DEPTH_HEAD_FUSION_BLOCKS + ".residual_unit.conv2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            when="layer > 0",
            heads="ForDepthEstimation",
        ),
        Row(
            "out_projections",
            "depth_head.reassemble.out_projections.{layer<len(neck_hidden_sizes)}",
            "neck_hidden_sizes[layer], backbone_config.hidden_size, 1, 1",
            bias="True",
            heads="ForDepthEstimation",
            group="convolution",
        ),
        Row(
            "resize_layers",
            "depth_head.reassemble.resize_layers.{layer<len(neck_hidden_sizes)}",
            "neck_hidden_sizes[layer], neck_hidden_sizes[layer], 3 if layer in backbone_config.out_indices else reassemble_factors[layer], 3 if layer in backbone_config.out_indices else reassemble_factors[layer]",
            bias="True",
            when="backbone_config.out_features[layer] != 'stage9'",
            heads="ForDepthEstimation",
            group="convolution",
        ),
        Row(
            "readout_projects",
            "depth_head.reassemble.readout_projects.{layer<len(neck_hidden_sizes)}",
            "backbone_config.hidden_size, 2 * backbone_config.hidden_size",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "segmentation_head_convs",
            "segmentation_head.convs.{layer<len(neck_hidden_sizes)}",
            "fusion_hidden_size, neck_hidden_sizes[layer], 3, 3",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "fusion_blocks_out_conv",
            SEGMENTATION_HEAD_FUSION_BLOCKS + ".out_conv",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "main_unit_conv1_embed_patches",
            SEGMENTATION_HEAD_FUSION_BLOCKS + ".main_unit.conv1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "main_unit_conv2",
            SEGMENTATION_HEAD_FUSION_BLOCKS + ".main_unit.conv2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "residual_unit_conv1_embed_patches",
            SEGMENTATION_HEAD_FUSION_BLOCKS + ".residual_unit.conv1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            when="layer > 0",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "fusion_blocks_residual_unit_conv2",
            SEGMENTATION_HEAD_FUSION_BLOCKS + ".residual_unit.conv2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            when="layer > 0",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "reassemble_out_projections",
            "segmentation_head.reassemble.out_projections.{layer<len(neck_hidden_sizes)}",
            "neck_hidden_sizes[layer], backbone_config.hidden_size, 1, 1",
            bias="True",
            heads="ForSemanticSegmentation",
            group="convolution",
        ),
        Row(
            "reassemble_resize_layers",
            "segmentation_head.reassemble.resize_layers.{layer<len(neck_hidden_sizes)}",
            "neck_hidden_sizes[layer], neck_hidden_sizes[layer], 3 if layer in backbone_config.out_indices else reassemble_factors[layer], 3 if layer in backbone_config.out_indices else reassemble_factors[layer]",
            bias="True",
            when="backbone_config.out_features[layer] != 'stage9'",
            heads="ForSemanticSegmentation",
            group="convolution",
        ),
        Row(
            "reassemble_readout_projects",
            "segmentation_head.reassemble.readout_projects.{layer<len(neck_hidden_sizes)}",
            "backbone_config.hidden_size, 2 * backbone_config.hidden_size",
            bias="True",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "depth_head",
            "depth_head.depth_head",
            "num_depth_bins, fusion_hidden_size",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "project",
            "depth_head.project",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
            group="convolution",
        ),
        Row(
            "segmentation_head",
            "segmentation_head.segmentation_head",
            "num_labels, fusion_hidden_size",
            bias="True",
            heads="ForSemanticSegmentation",
        ),
        Row(
            "segmentation_head_project",
            "segmentation_head.project",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForSemanticSegmentation",
            group="convolution",
        ),
    ),
    defaults={
        "backbone_config": {
            "hidden_size": 768,
            "out_features": ["stage3", "stage6", "stage9", "stage12"],
            "out_indices": [3, 6, 9, 12],
        },
        "fusion_hidden_size": 256,
        "num_depth_bins": 256,
    },
    derived={
        "neck_hidden_sizes": "[192 if layer == 1 else 384 if layer == 2 else 768 if layer > 2 else 96 for layer in range(4)]",
        "reassemble_factors": "[0.5 if layer > 2 else 1 if layer == 2 else 2 if layer == 1 else 4 for layer in range(4)]",
    },
    head="ForDepthEstimation",
)
