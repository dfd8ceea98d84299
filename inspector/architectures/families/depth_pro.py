"""Model type depth_pro: image_model_config, patch_model_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FEATURE_UPSAMPLE_INTERMEDIATE = "depth_pro.neck.feature_upsample.intermediate.{layer<0 + 2}"
FUSION_STAGE_INTERMEDIATE = (
    "fusion_stage.intermediate.{layer<len(intermediate_hook_ids) + len(scaled_images_ratios) - 1}"
)

FAMILY = Family(
    name="depth_pro",
    types={"depth_pro": {}},
    rows=(
        Include(
            "image_model_config",
            "depth_pro.encoder.image_encoder.model.",
            tower="image_model",
            head="Model",
            default_type="dinov2",
        ),
        Include(
            "patch_model_config",
            "depth_pro.encoder.patch_encoder.model.",
            tower="patch_model",
            head="Model",
            default_type="dinov2",
        ),
        Row(
            "intermediate",
            FEATURE_UPSAMPLE_INTERMEDIATE + ".layers.0",
            "fusion_hidden_size if layer == 0 else intermediate_feature_dims[1], patch_model_config.hidden_size, 1, 1",
            group="convolution",
        ),
        Row(
            "intermediate",
            FEATURE_UPSAMPLE_INTERMEDIATE + ".layers.1",
            "fusion_hidden_size if layer == 0 else intermediate_feature_dims[1], intermediate_feature_dims[layer], 2, 2",
            group="convolution",
        ),
        Row(
            "intermediate",
            FEATURE_UPSAMPLE_INTERMEDIATE + ".layers.2",
            "intermediate_feature_dims[layer], intermediate_feature_dims[layer], 2, 2",
            group="convolution",
        ),
        Row(
            "intermediate",
            FEATURE_UPSAMPLE_INTERMEDIATE + ".layers.3",
            "intermediate_feature_dims[1], intermediate_feature_dims[1], 2, 2",
            when="scaled_images_overlap_ratios[layer]",
            group="convolution",
        ),
        Row(
            "scaled_images",
            "depth_pro.neck.feature_upsample.scaled_images.{layer<1 + 2}.layers.{sublayer<0 + 2}",
            "scaled_images_feature_dims[layer], scaled_images_feature_dims[layer] if sublayer > 0 else patch_model_config.hidden_size, sublayer + 1, sublayer + 1",
            group="convolution",
        ),
        Row(
            "deconv",
            FUSION_STAGE_INTERMEDIATE + ".deconv",
            "fusion_hidden_size, fusion_hidden_size, 2, 2",
            heads="ForDepthEstimation",
        ),
        Row(
            "projection",
            FUSION_STAGE_INTERMEDIATE + ".projection",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            heads="ForDepthEstimation",
            group="convolution",
        ),
        Row(
            "convolution1",
            FUSION_STAGE_INTERMEDIATE + ".residual_layer1.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "convolution2",
            FUSION_STAGE_INTERMEDIATE + ".residual_layer1.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "residual_layer2_convolution1",
            FUSION_STAGE_INTERMEDIATE + ".residual_layer2.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "residual_layer2_convolution2",
            FUSION_STAGE_INTERMEDIATE + ".residual_layer2.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "head",
            "head.layers.{layer<len(intermediate_hook_ids) + len(scaled_images_ratios)}",
            "fusion_hidden_size // 2 if layer < num_fov_head_layers else 1 if layer > 2 else 32, (fusion_hidden_size if layer in scaled_images_overlap_ratios else 32) if layer % 4 == 0 else fusion_hidden_size // 2, (2 if layer in scaled_images_ratios else 1) if layer % 3 == 1 else 3, (2 if layer in scaled_images_ratios else 1) if layer % 3 == 1 else 3",
            bias="True",
            when="fov_model_config.stage_names[layer] != 'stage3'",
            heads="ForDepthEstimation",
        ),
        Row(
            "projections",
            "depth_pro.neck.feature_projection.projections.0",
            "fusion_hidden_size, scaled_images_feature_dims[0], 3, 3",
            group="convolution",
        ),
        Row(
            "projections",
            "depth_pro.neck.feature_projection.projections.1",
            "fusion_hidden_size, scaled_images_feature_dims[1], 3, 3",
            group="convolution",
        ),
        Row(
            "projections",
            "depth_pro.neck.feature_projection.projections.2",
            "fusion_hidden_size, scaled_images_feature_dims[2], 3, 3",
            group="convolution",
        ),
        Row(
            "projections",
            "depth_pro.neck.feature_projection.projections.3",
            "fusion_hidden_size, intermediate_feature_dims[0], 3, 3",
            group="convolution",
        ),
        Row(
            "projections",
            "depth_pro.neck.feature_projection.projections.4",
            "fusion_hidden_size, intermediate_feature_dims[1], 3, 3",
            when="num_labels > 2",
            group="convolution",
        ),
        Row(
            "image_block",
            "depth_pro.neck.feature_upsample.image_block.layers.0",
            "scaled_images_feature_dims[0]",
            leaf="bias",
        ),
        Row(
            "image_block",
            "depth_pro.neck.feature_upsample.image_block.layers.0",
            "image_model_config.hidden_size, scaled_images_feature_dims[0], 2, 2",
            group="convolution",
        ),
        Row(
            "fuse_image_with_low_res",
            "depth_pro.neck.fuse_image_with_low_res",
            "scaled_images_feature_dims[0], 2 * scaled_images_feature_dims[0], 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "projection",
            "fusion_stage.final.projection",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            heads="ForDepthEstimation",
            group="convolution",
        ),
        Row(
            "convolution1",
            "fusion_stage.final.residual_layer1.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "convolution2",
            "fusion_stage.final.residual_layer1.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "residual_layer2_convolution1",
            "fusion_stage.final.residual_layer2.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
        Row(
            "residual_layer2_convolution2",
            "fusion_stage.final.residual_layer2.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
            heads="ForDepthEstimation",
        ),
    ),
    prefix="depth_pro.",
    defaults={
        "fov_model_config": {
            "stage_names": [
                "stem",
                "stage1",
                "stage2",
                "stage3",
                "stage4",
                "stage5",
                "stage6",
                "stage7",
                "stage8",
                "stage9",
                "stage10",
                "stage11",
                "stage12",
            ]
        },
        "fusion_hidden_size": 256,
        "image_model_config": {"hidden_size": 768},
        "intermediate_feature_dims": [256, 256],
        "intermediate_hook_ids": [11, 5],
        "num_fov_head_layers": 2,
        "patch_model_config": {"hidden_size": 768},
        "scaled_images_feature_dims": [1024, 1024, 512],
        "scaled_images_overlap_ratios": [0.0, 0.5, 0.25],
        "scaled_images_ratios": [0.25, 0.5, 1],
    },
    head="Model",
)
