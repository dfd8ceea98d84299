"""MobileNetV1: convolutions channel by channel, each followed by one across the channels."""

from __future__ import annotations

from inspector.architectures.data.families.convolutions import normed
from inspector.architectures.table import Family, Row

BODY = "mobilenet_v1."

FAMILY = Family(
    name="mobilenet_v1",
    types={"mobilenet_v1": {}},
    rows=(
        *normed("embed_patches", BODY + "conv_stem", "widths[0], num_channels, 3, 3"),
        *normed(
            "convolution",
            BODY + "layer.{layer<26}",
            "widths[(layer + 1) // 2], widths[layer // 2] if layer % 2 == 1 else 1,"
            " 1 if layer % 2 == 1 else 3, 1 if layer % 2 == 1 else 3",
        ),
        Row("classifier", "classifier", "num_labels, widths[-1]", bias="True", heads="ForImageClassification"),
    ),
    prefix=BODY,
    head="Model",
    defaults={"num_channels": 3, "depth_multiplier": 1.0, "min_depth": 8},
    # The stem, then the thirteen pairs of convolutions.
    derived={
        "widths": "[max(scaled([32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024][pair],"
        " depth_multiplier), min_depth) for pair in range(14)]"
    },
)
