"""Model type zoedepth: backbone_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "neck.fusion_stage.layers.{layer<len(neck_hidden_sizes)}"

FAMILY = Family(
    name="zoedepth",
    types={"zoedepth": {}},
    rows=(
        Include(
            "backbone_config",
            "backbone.",
            tower="vision",
            head="Model",
            default_type="beit",
            without="layernorm relative_position_bias_table",
        ),
        Row("embed_patches", "metric_head.seed_bin_regressor.conv1", "256, bottleneck_features, 1, 1", bias="True"),
        Row("conv1_embed_patches", "metric_head.seed_projector.conv1", "128, bottleneck_features, 1, 1", bias="True"),
        Row(
            "relative_head_conv1_embed_patches",
            "relative_head.conv1",
            "fusion_hidden_size // 2, fusion_hidden_size, 3, 3",
            bias="True",
        ),
        Row(
            "relative_position_bias_table",
            "backbone.encoder.layer.{layer<backbone_config.num_hidden_layers}.attention.attention.relative_position_bias.relative_position_bias_table",
            "(2 * (backbone_config.image_size // backbone_config.patch_size) - 1) ** 2 + 3, backbone_config.num_attention_heads",
            leaf="",
            group="attention",
        ),
        Row(
            "embed_patches",
            "metric_head.attractors.{layer<len(neck_hidden_sizes)}.conv1",
            "bin_embedding_dim, bin_embedding_dim, 1, 1",
            bias="True",
        ),
        Row(
            "conv2",
            "metric_head.attractors.{layer<len(neck_hidden_sizes)}.conv2",
            "num_attractors[layer], bin_embedding_dim, 1, 1",
            bias="True",
        ),
        Row(
            "conv1_embed_patches",
            "metric_head.projectors.{layer<len(neck_hidden_sizes)}.conv1",
            "128, fusion_hidden_size, 1, 1",
            bias="True",
        ),
        Row(
            "projectors_conv2",
            "metric_head.projectors.{layer<len(neck_hidden_sizes)}.conv2",
            "bin_embedding_dim, 128, 1, 1",
            bias="True",
        ),
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
            "neck_hidden_sizes[layer], backbone_config.hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "resize",
            "neck.reassemble_stage.layers.{layer<len(neck_hidden_sizes)}.resize",
            "neck_hidden_sizes[layer], neck_hidden_sizes[layer], reassemble_factors[layer] if num_attractors[layer] > 1 else 3, reassemble_factors[layer] if num_attractors[layer] > 1 else 3",
            bias="True",
            when="backbone_config.out_features[layer] != 'stage18'",
            group="convolution",
        ),
        Row(
            "readout_projects",
            "neck.reassemble_stage.readout_projects.{layer<len(neck_hidden_sizes)}.0",
            "backbone_config.hidden_size, 2 * backbone_config.hidden_size",
            bias="True",
        ),
        Row(
            "mlp",
            "metric_head.conditional_log_binomial.mlp.0",
            "(num_relative_features + bin_embedding_dim + 1) // 2, num_relative_features + bin_embedding_dim + 1, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "mlp",
            "metric_head.conditional_log_binomial.mlp.2",
            "4, (num_relative_features + bin_embedding_dim + 1) // 2, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row("conv2", "metric_head.conv2", "bottleneck_features, bottleneck_features, 1, 1", bias="True"),
        Row(
            "seed_bin_regressor_conv2",
            "metric_head.seed_bin_regressor.conv2",
            "bin_configurations[0].n_bins, 256, 1, 1",
            bias="True",
        ),
        Row("seed_projector_conv2", "metric_head.seed_projector.conv2", "bin_embedding_dim, 128, 1, 1", bias="True"),
        Row(
            "relative_head_conv2",
            "relative_head.conv2",
            "num_relative_features, fusion_hidden_size // 2, 3, 3",
            bias="True",
        ),
        Row("conv3", "relative_head.conv3", "1, num_relative_features, 1, 1", bias="True"),
    ),
    defaults={
        "backbone_config": {
            "hidden_size": 1024,
            "image_size": 384,
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "out_features": ["stage6", "stage12", "stage18", "stage24"],
            "patch_size": 16,
        },
        "bin_embedding_dim": 128,
        "bottleneck_features": 256,
        "fusion_hidden_size": 256,
        "neck_hidden_sizes": [96, 192, 384, 768],
        "num_attractors": [16, 8, 4, 1],
        "num_relative_features": 32,
        "reassemble_factors": [4, 2, 1, 0.5],
    },
    derived={"bin_configurations": "[{'max_depth': 10.0, 'min_depth': 0.001, 'n_bins': 64} for layer in range(1)]"},
    head="ForDepthEstimation",
)
