"""Model type dinov3_convnext.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STAGES = "stages.{layer<len(depths)}"
STAGES_ = "stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="dinov3_convnext",
    types={"dinov3_convnext": {}},
    rows=(
        Row("depthwise_conv", STAGES_ + ".depthwise_conv", "hidden_sizes[layer], 1, 7, 7", bias="True"),
        Row("gamma", STAGES_ + ".gamma", "hidden_sizes[layer]", leaf=""),
        Row("layer_norm", STAGES_ + ".layer_norm", "hidden_sizes[layer]", bias="True"),
        Row(
            "pointwise_conv1", STAGES_ + ".pointwise_conv1", "4 * hidden_sizes[layer], hidden_sizes[layer]", bias="True"
        ),
        Row(
            "pointwise_conv2", STAGES_ + ".pointwise_conv2", "hidden_sizes[layer], 4 * hidden_sizes[layer]", bias="True"
        ),
        Row("layer_norm", "layer_norm", "hidden_sizes[-1]", bias="True"),
    ),
    derived={
        "depths": "[9 if layer == 2 else 3 for layer in range(4)]",
        "hidden_sizes": "[192 if layer == 1 else 384 if layer == 2 else 768 if layer > 2 else 96 for layer in range(4)]",
    },
    head="Model",
)
