"""MobileNetV2: blocks that widen, convolve channel by channel, and narrow again."""

from __future__ import annotations

from inspector.architectures.data.families.convolutions import inverted_residual, normed
from inspector.architectures.table import Family, Row

BODY = "mobilenet_v2."
STEM = BODY + "conv_stem."
SEGMENTATION = "ForSemanticSegmentation"


def width(channels: str, factor: str = "depth_multiplier") -> str:
    return f"divisible(round({channels} * {factor}), depth_divisible_by, min_depth)"


FAMILY = Family(
    name="mobilenet_v2",
    types={"mobilenet_v2": {}},
    rows=(
        *normed("embed_patches", STEM + "first_conv", "stem_width, num_channels, 3, 3"),
        *normed(
            "stem_expand", STEM + "expand_1x1", "stem_width, stem_width, 1, 1", when="not first_layer_is_expansion"
        ),
        *normed("stem_depthwise", STEM + "conv_3x3", "stem_width, 1, 3, 3"),
        *normed("stem_reduce", STEM + "reduce_1x1", "widths[0], stem_width, 1, 1"),
        *inverted_residual(BODY + "layer.{layer<16}", "widths[layer]", "inner_width", "widths[layer + 1]"),
        *normed("last_convolution", BODY + "conv_1x1", "last_width, widths[-1], 1, 1"),
        *normed("pool_convolution", "segmentation_head.conv_pool", "256, widths[-1], 1, 1", heads=SEGMENTATION),
        *normed("aspp_convolution", "segmentation_head.conv_aspp", "256, widths[-1], 1, 1", heads=SEGMENTATION),
        *normed("head_projection", "segmentation_head.conv_projection", "256, 512, 1, 1", heads=SEGMENTATION),
        Row(
            "classifier",
            "segmentation_head.classifier.convolution",
            "num_labels, 256, 1, 1",
            bias="True",
            heads=SEGMENTATION,
        ),
        Row("classifier", "classifier", "num_labels, last_width", bias="True", heads="ForImageClassification"),
    ),
    prefix=BODY,
    head="Model",
    defaults={
        "num_channels": 3,
        "depth_multiplier": 1.0,
        "depth_divisible_by": 8,
        "min_depth": 8,
        "expand_ratio": 6.0,
        "first_layer_is_expansion": True,
        "finegrained_output": True,
    },
    derived={
        "stem_width": width("32"),
        "widths": "["
        + width("[16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320][block]")
        + " for block in range(17)]",
        "inner_width": width("widths[layer]", "expand_ratio"),
        "last_width": f"1280 if finegrained_output and depth_multiplier < 1 else {width('1280')}",
    },
)
