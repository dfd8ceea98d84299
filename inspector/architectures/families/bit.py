"""Model type bit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "bit.encoder.stages.{layer<len(depths)}"
ENCODER_STAGES_ = "bit.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="bit",
    types={"bit": {}},
    rows=(
        Row("convolution", "bit.embedder.convolution", "embedding_size, num_channels, 7, 7", group="embedding"),
        Row("embedder_norm", "bit.embedder.norm", "embedding_size", bias="True", when="layer_type == 'bottleneck'"),
        Row(
            "embed_patches",
            ENCODER_STAGES_ + ".conv1",
            "max(8, 8 * (int(max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) * 0.25 + 4) // 8)), max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) if sublayer > 0 else max(8, ceil_to(hidden_sizes[layer - 1] * width_factor - 3, 8)) if layer > 0 else embedding_size, 1, 1",
        ),
        Row(
            "input_layernorm",
            ENCODER_STAGES_ + ".norm1",
            "((embedding_size if layer_type == 'preactivation' else hidden_sizes[layer] // 4) if layer_type == 'bottleneck' or layer == 0 else max(8, ceil_to(hidden_sizes[layer - 1] * width_factor - 3, 8))) if layer_type == 'bottleneck' or sublayer == 0 else max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8))",
            bias="True",
        ),
        Row(
            "conv",
            ENCODER_STAGES_ + ".downsample.conv",
            "max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)), max(8, ceil_to(hidden_sizes[layer - 1] * width_factor - 3, 8)) if layer > 0 else embedding_size, 1, 1",
            when="sublayer == 0",
        ),
        Row(
            "conv2",
            ENCODER_STAGES_ + ".conv2",
            "max(8, 8 * (int(max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) * 0.25 + 4) // 8)), max(8, 8 * (int(max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) * 0.25 + 4) // 8)), 3, 3",
        ),
        Row(
            "norm3",
            ENCODER_STAGES_ + ".norm3",
            "hidden_sizes[layer] if layer_type == 'bottleneck' else max(8, 8 * (int(max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) * 0.25 + 4) // 8))",
            bias="True",
        ),
        Row(
            "conv3",
            ENCODER_STAGES_ + ".conv3",
            "max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)), max(8, 8 * (int(max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) * 0.25 + 4) // 8)), 1, 1",
        ),
        Row(
            "norm",
            ENCODER_STAGES_ + ".downsample.norm",
            "hidden_sizes[layer]",
            bias="True",
            when="layer_type == 'bottleneck' and sublayer == 0",
        ),
        Row(
            "post_attention_layernorm",
            ENCODER_STAGES_ + ".norm2",
            "max(8, 8 * (int(max(8, ceil_to(hidden_sizes[layer] * width_factor - 3, 8)) * 0.25 + 4) // 8))",
            bias="True",
        ),
        Row("norm", "bit.norm", "hidden_sizes[-1]", bias="True", when="layer_type == 'preactivation'"),
        Row("classifier", "classifier.1", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    prefix="bit.",
    defaults={
        "depths": [3, 4, 6, 3],
        "embedding_size": 64,
        "hidden_sizes": [256, 512, 1024, 2048],
        "layer_type": "preactivation",
        "num_channels": 3,
        "width_factor": 1,
    },
    head="Model",
)
