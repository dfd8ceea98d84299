"""Model type focalnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "focalnet.encoder.stages.{layer<len(depths)}"
ENCODER_STAGES_ = "focalnet.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="focalnet",
    types={"focalnet": {}},
    rows=(
        Row(
            "embed_patches",
            "focalnet.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size if not use_conv_embed else 7, patch_size if not use_conv_embed else 7",
            bias="True",
        ),
        Row("embed_norm", "focalnet.embeddings.norm", "embed_dim", bias="True"),
        Row("input_layernorm", ENCODER_STAGES_ + ".norm1", "2 ** layer * embed_dim", bias="True"),
        Row(
            "projection_in",
            ENCODER_STAGES_ + ".modulation.projection_in",
            "2 * 2 ** layer * embed_dim + focal_levels[layer] + 1, 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "projection_context",
            ENCODER_STAGES_ + ".modulation.projection_context",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row(
            "projection_out",
            ENCODER_STAGES_ + ".modulation.projection_out",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "focal_layers",
            ENCODER_STAGES_ + ".modulation.focal_layers.{focal_layer<focal_levels[0]}.0",
            "2 ** layer * embed_dim, 1, 2 * focal_layer + focal_windows[layer], 2 * focal_layer + focal_windows[layer]",
            group="convolution",
        ),
        Row(
            "projection",
            ENCODER_STAGES + ".downsample.projection",
            "2 ** (layer + 1) * embed_dim, 2 ** layer * embed_dim, 3 if use_conv_embed else 2, 3 if use_conv_embed else 2",
            bias="True",
            when="stage_names[layer] != 'stage3'",
            group="convolution",
        ),
        Row(
            "norm",
            ENCODER_STAGES + ".downsample.norm",
            "2 ** (layer + 1) * embed_dim",
            bias="True",
            when="stage_names[layer] != 'stage3'",
        ),
        Row("gamma_1", ENCODER_STAGES_ + ".gamma_1", "2 ** layer * embed_dim", when="use_layerscale", leaf=""),
        Row("gamma_2", ENCODER_STAGES_ + ".gamma_2", "2 ** layer * embed_dim", when="use_layerscale", leaf=""),
        Row(
            "layernorm",
            ENCODER_STAGES_ + ".modulation.layernorm",
            "2 ** layer * embed_dim",
            bias="True",
            when="use_post_layernorm_in_modulation",
        ),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".norm2", "2 ** layer * embed_dim", bias="True"),
        Row(
            "up_proj",
            ENCODER_STAGES_ + ".mlp.fc1",
            "scaled(2 ** layer * embed_dim, mlp_ratio), 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "down_proj",
            ENCODER_STAGES_ + ".mlp.fc2",
            "2 ** layer * embed_dim, scaled(2 ** layer * embed_dim, mlp_ratio)",
            bias="True",
        ),
        Row("layernorm", "focalnet.layernorm", "2 ** (len(depths) - 1) * embed_dim", bias="True"),
        Row(
            "classifier",
            "classifier",
            "num_labels, 2 ** (len(depths) - 1) * embed_dim",
            bias="True",
            heads="ForImageClassification",
        ),
    ),
    prefix="focalnet.",
    defaults={
        "depths": [2, 2, 6, 2],
        "embed_dim": 96,
        "focal_levels": [2, 2, 2, 2],
        "focal_windows": [3, 3, 3, 3],
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "patch_size": 4,
        "stage_names": ["stem", "stage1", "stage2", "stage3", "stage4"],
        "use_conv_embed": False,
        "use_layerscale": False,
        "use_post_layernorm_in_modulation": False,
    },
    head="Model",
)
