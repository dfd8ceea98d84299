"""Model type prompt_depth_anything.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

BACKBONE_ENCODER = "backbone.encoder.layer.{layer<backbone_config.num_hidden_layers}"
NECK_FUSION_STAGE = "neck.fusion_stage.layers.{layer<4}"

FAMILY = Family(
    name="prompt_depth_anything",
    types={"prompt_depth_anything": {}},
    rows=(
        Row("embed_class", "backbone.embeddings.cls_token", "1, 1, backbone_config.hidden_size", leaf=""),
        Row(
            "mask_token",
            "backbone.embeddings.mask_token",
            "1, backbone_config.hidden_size",
            when="backbone_config.use_mask_token",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_patches",
            "backbone.embeddings.patch_embeddings.projection",
            "backbone_config.hidden_size, backbone_config.num_channels, backbone_config.patch_size, backbone_config.patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "backbone.embeddings.position_embeddings",
            "1, (backbone_config.image_size // backbone_config.patch_size) ** 2 + 1, backbone_config.hidden_size",
            leaf="",
        ),
        Row("conv1_embed_patches", "head.conv1", "fusion_hidden_size // 2, fusion_hidden_size, 3, 3", bias="True"),
        Row("input_layernorm", BACKBONE_ENCODER + ".norm1", "backbone_config.hidden_size", bias="True"),
        Row(
            "q_proj",
            BACKBONE_ENCODER + ".attention.attention.query",
            "backbone_config.num_attention_heads * (backbone_config.hidden_size // backbone_config.num_attention_heads), backbone_config.hidden_size",
            bias="backbone_config.qkv_bias",
        ),
        Row(
            "k_proj",
            BACKBONE_ENCODER + ".attention.attention.key",
            "backbone_config.num_attention_heads * (backbone_config.hidden_size // backbone_config.num_attention_heads), backbone_config.hidden_size",
            bias="backbone_config.qkv_bias",
        ),
        Row(
            "v_proj",
            BACKBONE_ENCODER + ".attention.attention.value",
            "backbone_config.num_attention_heads * (backbone_config.hidden_size // backbone_config.num_attention_heads), backbone_config.hidden_size",
            bias="backbone_config.qkv_bias",
        ),
        Row(
            "o_proj",
            BACKBONE_ENCODER + ".attention.output.dense",
            "backbone_config.hidden_size, backbone_config.num_attention_heads * (backbone_config.hidden_size // backbone_config.num_attention_heads)",
            bias="True",
        ),
        Row("lambda1", BACKBONE_ENCODER + ".layer_scale1.lambda1", "backbone_config.hidden_size", leaf=""),
        Row("layer_scale2_lambda1", BACKBONE_ENCODER + ".layer_scale2.lambda1", "backbone_config.hidden_size", leaf=""),
        Row(
            "weights_out",
            BACKBONE_ENCODER + ".mlp.weights_out",
            "backbone_config.hidden_size, neck_hidden_sizes[0] * backbone_config.out_indices[0]",
            bias="True",
            when="backbone_config.use_swiglu_ffn",
            group="feed_forward",
        ),
        Row(
            "weights_in",
            BACKBONE_ENCODER + ".mlp.weights_in",
            "backbone_config.out_indices[0] * neck_hidden_sizes[1], backbone_config.hidden_size",
            bias="True",
            when="backbone_config.use_swiglu_ffn",
            group="feed_forward",
        ),
        Row("post_attention_layernorm", BACKBONE_ENCODER + ".norm2", "backbone_config.hidden_size", bias="True"),
        Row(
            "up_proj",
            BACKBONE_ENCODER + ".mlp.fc1",
            "backbone_config.hidden_size * backbone_config.mlp_ratio, backbone_config.hidden_size",
            bias="True",
            when="not backbone_config.use_swiglu_ffn",
        ),
        Row(
            "down_proj",
            BACKBONE_ENCODER + ".mlp.fc2",
            "backbone_config.hidden_size, backbone_config.hidden_size * backbone_config.mlp_ratio",
            bias="True",
            when="not backbone_config.use_swiglu_ffn",
        ),
        Row("convs", "neck.convs.{layer<4}", "fusion_hidden_size, neck_hidden_sizes[layer], 3, 3"),
        Row(
            "projection",
            NECK_FUSION_STAGE + ".projection",
            "fusion_hidden_size, fusion_hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "convolution1",
            NECK_FUSION_STAGE + ".prompt_depth_layer.convolution1",
            "fusion_hidden_size, 1, 3, 3",
            bias="True",
        ),
        Row(
            "convolution2",
            NECK_FUSION_STAGE + ".prompt_depth_layer.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "convolution3",
            NECK_FUSION_STAGE + ".prompt_depth_layer.convolution3",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "residual_layer1_convolution1",
            NECK_FUSION_STAGE + ".residual_layer1.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "residual_layer1_convolution2",
            NECK_FUSION_STAGE + ".residual_layer1.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "residual_layer2_convolution1",
            NECK_FUSION_STAGE + ".residual_layer2.convolution1",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "residual_layer2_convolution2",
            NECK_FUSION_STAGE + ".residual_layer2.convolution2",
            "fusion_hidden_size, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "reassemble_stage_projection",
            "neck.reassemble_stage.layers.{layer<4}.projection",
            "neck_hidden_sizes[layer], reassemble_hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "resize",
            "neck.reassemble_stage.layers.{layer<4}.resize",
            "neck_hidden_sizes[layer], neck_hidden_sizes[layer], 4 if backbone_config.out_features[layer] == 'stage9' else 2 if backbone_config.out_features[layer] == 'stage10' else 3, 4 if backbone_config.out_features[layer] == 'stage9' else 2 if backbone_config.out_features[layer] == 'stage10' else 3",
            bias="True",
            when="backbone_config.out_features[layer] != 'stage11'",
            group="convolution",
        ),
        Row("layernorm", "backbone.layernorm", "backbone_config.hidden_size", bias="True"),
        Row("conv2", "head.conv2", "head_hidden_size, fusion_hidden_size // 2, 3, 3", bias="True", group="head"),
        Row("conv3", "head.conv3", "1, head_hidden_size, 1, 1", bias="True", group="head"),
    ),
    defaults={
        "backbone_config": {
            "hidden_size": 384,
            "image_size": 518,
            "mlp_ratio": 4,
            "num_attention_heads": 6,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "out_features": ["stage9", "stage10", "stage11", "stage12"],
            "out_indices": [9, 10, 11, 12],
            "patch_size": 14,
            "qkv_bias": True,
            "use_mask_token": True,
            "use_swiglu_ffn": False,
        },
        "fusion_hidden_size": 64,
        "head_hidden_size": 32,
        "neck_hidden_sizes": [48, 96, 192, 384],
        "reassemble_hidden_size": 384,
    },
    head="ForDepthEstimation",
)
