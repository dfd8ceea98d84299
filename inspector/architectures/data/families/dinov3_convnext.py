"""DINOv3's ConvNeXt: blocks of a wide convolution channel by channel and a feed-forward."""

from __future__ import annotations

from inspector.architectures.data.families.convolutions import convolution
from inspector.architectures.table import Family, Row

STAGE = "stages.{layer<len(depths)}."
BLOCK = STAGE + "layers.{block<depths[layer]}."
#: The first stage convolves and then norms, the others norm first.
DOWNSAMPLE = STAGE + "downsample_layers.{part<2}"
CONVOLVES = "part == min(layer, 1)"
WIDTH, BEFORE = "hidden_sizes[layer]", "hidden_sizes[layer - 1]"

FAMILY = Family(
    name="dinov3_convnext",
    types={"dinov3_convnext": {}},
    rows=(
        convolution(
            "downsample",
            DOWNSAMPLE,
            f"{WIDTH}, {BEFORE} if layer > 0 else num_channels, 2 if layer > 0 else 4, 2 if layer > 0 else 4",
            bias="True",
            when=CONVOLVES,
        ),
        convolution(
            "downsample",
            DOWNSAMPLE,
            f"{BEFORE} if layer > 0 else {WIDTH}",
            bias="True",
            when=f"not ({CONVOLVES})",
        ),
        convolution("depthwise", BLOCK + "depthwise_conv", f"{WIDTH}, 1, 7, 7", bias="True"),
        Row("pre_feedforward_layernorm", BLOCK + "layer_norm", WIDTH, bias="True"),
        Row("up_proj", BLOCK + "pointwise_conv1", f"4 * {WIDTH}, {WIDTH}", bias="True"),
        Row("down_proj", BLOCK + "pointwise_conv2", f"{WIDTH}, 4 * {WIDTH}", bias="True"),
        Row("layer_scale", BLOCK + "gamma", WIDTH, leaf=""),
        Row("norm", "layer_norm", "hidden_sizes[-1]", bias="True", heads="Model"),
    ),
    head="Model",
    defaults={"num_channels": 3, "hidden_sizes": [96, 192, 384, 768], "depths": [3, 3, 9, 3]},
)
