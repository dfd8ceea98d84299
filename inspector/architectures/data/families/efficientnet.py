"""EfficientNet, and ALIGN's vision tower: MobileNetV2's blocks with channels weighed, in stages that scale."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import batch_norm, convolution
from inspector.architectures.table import Family, Row

BODY = "efficientnet."
BLOCK = BODY + "encoder.blocks.{layer<sum(repeats)}."
KERNEL = "kernel_sizes[stage_at]"


def width(channels: str) -> str:
    return f"divisible({channels} * width_coefficient, depth_divisor)"


def block() -> Iterator[Row]:
    """Widened, convolved channel by channel, the channels weighed by what a bottleneck makes of their means, narrowed."""
    widens = "expand_ratios[stage_at] != 1"
    yield convolution("expand", BLOCK + "expansion.expand_conv", "inner_width, block_before, 1, 1", when=widens)
    yield from batch_norm("expand_norm", BLOCK + "expansion.expand_bn", "inner_width", when=widens)
    depthwise = BLOCK + "depthwise_conv."
    yield convolution("depthwise", depthwise + "depthwise_conv", f"inner_width, 1, {KERNEL}, {KERNEL}")
    yield from batch_norm("depthwise_norm", depthwise + "depthwise_norm", "inner_width")
    squeeze = BLOCK + "squeeze_excite."
    yield convolution("squeeze", squeeze + "reduce", "bottleneck, inner_width, 1, 1", bias="True")
    yield convolution("excite", squeeze + "expand", "inner_width, bottleneck, 1, 1", bias="True")
    yield convolution("project", BLOCK + "projection.project_conv", "block_after, inner_width, 1, 1")
    yield from batch_norm("project_norm", BLOCK + "projection.project_bn", "block_after")


FAMILY = Family(
    name="efficientnet",
    types={"efficientnet": {"has_top": True}, "align_vision_model": {"has_top": False}},
    rows=(
        convolution("embed_patches", BODY + "embeddings.convolution", f"{width('32')}, num_channels, 3, 3"),
        *batch_norm("embed_norm", BODY + "embeddings.batchnorm", width("32")),
        *block(),
        convolution(
            "top_convolution",
            BODY + "encoder.top_conv",
            f"{width('1280')}, {width('out_channels[len(in_channels) - 1]')}, 1, 1",
            when="has_top",
        ),
        *batch_norm("top_norm", BODY + "encoder.top_bn", "hidden_dim", when="has_top"),
        Row("classifier", "classifier", "num_labels, hidden_dim", bias="True", heads="ForImageClassification"),
    ),
    prefix=BODY,
    head="Model",
    defaults={
        "num_channels": 3,
        "width_coefficient": 2.0,
        "depth_coefficient": 3.1,
        "depth_divisor": 8,
        "kernel_sizes": [3, 3, 5, 3, 5, 5, 3],
        "in_channels": [32, 16, 24, 40, 80, 112, 192],
        "out_channels": [16, 24, 40, 80, 112, 192, 320],
        "num_block_repeats": [1, 2, 2, 3, 3, 4, 1],
        "expand_ratios": [1, 6, 6, 6, 6, 6, 6],
        "squeeze_expansion_ratio": 0.25,
        "hidden_dim": 2560,
    },
    derived={
        "repeats": "[ceil(depth_coefficient * num_block_repeats[at]) for at in range(len(in_channels))]",
        "stage_at": "stage(repeats, layer)",
        "is_first": "layer == 0 or stage(repeats, layer - 1) < stage_at",
        "block_before": width("(in_channels[stage_at] if is_first else out_channels[stage_at])"),
        "block_after": width("out_channels[stage_at]"),
        "inner_width": "block_before * expand_ratios[stage_at]",
        "bottleneck": "max(1, scaled(block_before, squeeze_expansion_ratio))",
    },
)
