"""Model type dinov3_convnext.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STAGES = "stages.{layer}"
STAGES_ = "stages.{layer}.layers.{sublayer}"

FAMILY = Family(
    name="dinov3_convnext",
    types={"dinov3_convnext": {}},
    rows=(
        Row("depthwise_conv", STAGES_ + ".depthwise_conv", ""),
        Row("gamma", STAGES_ + ".gamma", "", leaf=""),
        Row("layer_norm", STAGES_ + ".layer_norm", ""),
        Row("pointwise_conv1", STAGES_ + ".pointwise_conv1", ""),
        Row("pointwise_conv2", STAGES_ + ".pointwise_conv2", ""),
        Row("layer_norm", "layer_norm", ""),
    ),
    names_only=True,
    head="Model",
)
