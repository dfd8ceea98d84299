"""Model type bit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STAGES_ = "encoder.stages.0.layers.{layer<depths[0]}"
STAGES_ = "encoder.stages.1.layers.{layer<depths[0]}"
STAGES_ = "encoder.stages.2.layers.{layer<depths[0]}"
STAGES_ = "encoder.stages.3.layers.{layer<depths[0]}"
ENCODER_STAGES = "bit.encoder.stages.{layer<len(depths)}"
ENCODER_STAGES_ = "bit.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="bit",
    types={"bit": {}},
    rows=(
        Row("embedder_norm", "embedder.norm", "embedding_size", bias="True", when="layer_type == 'bottleneck'"),
        Row(
            "embed_patches",
            STAGES_ + ".conv1",
            "width_factor * hidden_sizes[0] // 4, width_factor * hidden_sizes[0] if layer > 0 else embedding_size, 1, 1",
            heads="Model",
        ),
        Row(
            "input_layernorm",
            STAGES_ + ".norm1",
            "(num_groups if embedding_size > output_stride else num_groups * depths[-1]) if layer_type == 'bottleneck' else width_factor * hidden_sizes[0] if layer > 0 else embedding_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv",
            STAGES_ + ".downsample.conv",
            "width_factor * hidden_sizes[0], embedding_size, 1, 1",
            when="layer == 0",
            heads="Model",
        ),
        Row(
            "conv2",
            STAGES_ + ".conv2",
            "width_factor * hidden_sizes[0] // 4, width_factor * hidden_sizes[0] // 4, 3, 3",
            heads="Model",
        ),
        Row(
            "norm3",
            STAGES_ + ".norm3",
            "hidden_sizes[0] if layer_type == 'bottleneck' else width_factor * hidden_sizes[0] // 4",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv3",
            STAGES_ + ".conv3",
            "width_factor * hidden_sizes[0], width_factor * hidden_sizes[0] // 4, 1, 1",
            heads="Model",
        ),
        Row(
            "norm",
            STAGES_ + ".downsample.norm",
            "hidden_sizes[0]",
            bias="True",
            when="layer_type == 'bottleneck' and layer == 0",
        ),
        Row(
            "post_attention_layernorm",
            STAGES_ + ".norm2",
            "width_factor * hidden_sizes[0] // 4",
            bias="True",
            heads="Model",
        ),
        Row(
            "embed_patches",
            STAGES_ + ".conv1",
            "width_factor * hidden_sizes[0] // 2, width_factor * hidden_sizes[1] if layer > 0 else width_factor * hidden_sizes[0], 1, 1",
            heads="Model",
        ),
        Row("input_layernorm", STAGES_ + ".norm1", "256", bias="True", heads="Model"),
        Row(
            "conv",
            STAGES_ + ".downsample.conv",
            "width_factor * hidden_sizes[1], width_factor * hidden_sizes[0], 1, 1",
            when="layer == 0",
            heads="Model",
        ),
        Row(
            "conv2",
            STAGES_ + ".conv2",
            "width_factor * hidden_sizes[0] // 2, width_factor * hidden_sizes[0] // 2, 3, 3",
            heads="Model",
        ),
        Row(
            "norm3",
            STAGES_ + ".norm3",
            "hidden_sizes[1] if layer_type == 'bottleneck' else width_factor * hidden_sizes[0] // 2",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv3",
            STAGES_ + ".conv3",
            "width_factor * hidden_sizes[1], width_factor * hidden_sizes[0] // 2, 1, 1",
            heads="Model",
        ),
        Row(
            "norm",
            STAGES_ + ".downsample.norm",
            "hidden_sizes[1]",
            bias="True",
            when="layer_type == 'bottleneck' and layer == 0",
        ),
        Row(
            "post_attention_layernorm",
            STAGES_ + ".norm2",
            "width_factor * hidden_sizes[0] // 2",
            bias="True",
            heads="Model",
        ),
        Row(
            "embed_patches",
            STAGES_ + ".conv1",
            "width_factor * hidden_sizes[0], width_factor * hidden_sizes[2] if layer > 0 else width_factor * hidden_sizes[1], 1, 1",
            heads="Model",
        ),
        Row(
            "input_layernorm",
            STAGES_ + ".norm1",
            "hidden_sizes[0] if layer_type == 'bottleneck' else width_factor * hidden_sizes[2] if layer > 0 else width_factor * hidden_sizes[1]",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv",
            STAGES_ + ".downsample.conv",
            "width_factor * hidden_sizes[2], width_factor * hidden_sizes[1], 1, 1",
            when="layer == 0",
            heads="Model",
        ),
        Row(
            "conv2",
            STAGES_ + ".conv2",
            "width_factor * hidden_sizes[0], width_factor * hidden_sizes[0], 3, 3",
            heads="Model",
        ),
        Row(
            "norm3",
            STAGES_ + ".norm3",
            "hidden_sizes[2] if layer_type == 'bottleneck' else width_factor * hidden_sizes[0]",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv3",
            STAGES_ + ".conv3",
            "width_factor * hidden_sizes[2], width_factor * hidden_sizes[0], 1, 1",
            heads="Model",
        ),
        Row(
            "norm",
            STAGES_ + ".downsample.norm",
            "hidden_sizes[2]",
            bias="True",
            when="layer_type == 'bottleneck' and layer == 0",
        ),
        Row(
            "post_attention_layernorm", STAGES_ + ".norm2", "width_factor * hidden_sizes[0]", bias="True", heads="Model"
        ),
        Row(
            "embed_patches",
            STAGES_ + ".conv1",
            "width_factor * hidden_sizes[1], width_factor * hidden_sizes[-1] if layer > 0 else width_factor * hidden_sizes[2], 1, 1",
            heads="Model",
        ),
        Row(
            "input_layernorm",
            STAGES_ + ".norm1",
            "hidden_sizes[1] if layer_type == 'bottleneck' else width_factor * hidden_sizes[-1] if layer > 0 else width_factor * hidden_sizes[2]",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv",
            STAGES_ + ".downsample.conv",
            "width_factor * hidden_sizes[-1], width_factor * hidden_sizes[2], 1, 1",
            when="layer == 0",
            heads="Model",
        ),
        Row(
            "conv2",
            STAGES_ + ".conv2",
            "width_factor * hidden_sizes[1], width_factor * hidden_sizes[1], 3, 3",
            heads="Model",
        ),
        Row(
            "norm3",
            STAGES_ + ".norm3",
            "hidden_sizes[-1] if layer_type == 'bottleneck' else width_factor * hidden_sizes[1]",
            bias="True",
            heads="Model",
        ),
        Row(
            "conv3",
            STAGES_ + ".conv3",
            "width_factor * hidden_sizes[-1], width_factor * hidden_sizes[1], 1, 1",
            heads="Model",
        ),
        Row(
            "norm",
            STAGES_ + ".downsample.norm",
            "hidden_sizes[-1]",
            bias="True",
            when="layer_type == 'bottleneck' and layer == 0",
        ),
        Row(
            "post_attention_layernorm", STAGES_ + ".norm2", "width_factor * hidden_sizes[1]", bias="True", heads="Model"
        ),
        Row(
            "downsample_conv",
            ENCODER_STAGES_ + ".downsample.conv",
            "hidden_sizes[layer], embedding_size if stage_names[layer] == 'stem' else hidden_sizes[layer - 1], 1, 1",
            when="sublayer == 0",
            heads="ForImageClassification",
        ),
        Row(
            "norm1_input_layernorm",
            ENCODER_STAGES_ + ".norm1",
            "(embedding_size if stage_names[sublayer] == 'stem' else hidden_sizes[0]) if stage_names[layer] == 'stem' else hidden_sizes[layer] if sublayer > 0 else hidden_sizes[layer - 1]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "conv1_embed_patches",
            ENCODER_STAGES_ + ".conv1",
            "hidden_sizes[layer] // 4, (embedding_size if stage_names[sublayer] == 'stem' else hidden_sizes[0]) if stage_names[layer] == 'stem' else hidden_sizes[layer] if sublayer > 0 else hidden_sizes[layer - 1], 1, 1",
            heads="ForImageClassification",
        ),
        Row(
            "norm2_post_attention_layernorm",
            ENCODER_STAGES_ + ".norm2",
            "hidden_sizes[layer] // 4",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_conv2",
            ENCODER_STAGES_ + ".conv2",
            "hidden_sizes[layer] // 4, hidden_sizes[layer] // 4, num_channels, num_channels",
            heads="ForImageClassification",
        ),
        Row(
            "stages_norm3",
            ENCODER_STAGES_ + ".norm3",
            "hidden_sizes[layer] // 4",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "stages_conv3",
            ENCODER_STAGES_ + ".conv3",
            "hidden_sizes[layer], hidden_sizes[layer] // 4, 1, 1",
            heads="ForImageClassification",
        ),
        Row(
            "convolution",
            "embedder.convolution",
            "embedding_size, num_channels, 7, 7",
            heads="Model",
            group="embedding",
        ),
        Row("norm", "norm", "hidden_sizes[-1]", bias="True", when="layer_type == 'preactivation'", heads="Model"),
        Row(
            "embedder_convolution",
            "bit.embedder.convolution",
            "embedding_size, num_channels, 7, 7",
            heads="ForImageClassification",
        ),
        Row("bit_norm", "bit.norm", "hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
        Row("classifier", "classifier.1", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    defaults={
        "depths": [3, 4, 6, 3],
        "embedding_size": 64,
        "hidden_sizes": [256, 512, 1024, 2048],
        "layer_type": "preactivation",
        "num_channels": 3,
        "num_groups": 32,
        "output_stride": 32,
        "stage_names": ["stem", "stage1", "stage2", "stage3", "stage4"],
        "width_factor": 1,
    },
    head="Model",
)
