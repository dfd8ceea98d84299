"""PP-OCRv5's detector of text for mobiles: features of four scales, their channels weighed, and a map of where text is."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import batch_norm, convolution, normed
from inspector.architectures.table import Family, Include, Row

DETECTION = "ForObjectDetection"
GIVEN = "layer_list_out_channels"
HEAD = "head."
#: The width of the maps before they are joined.
NARROW = "neck_out_channels // 4"


def weighed(role: str, name: str, width: str, before: str, size: int) -> Iterator[Row]:
    """A convolution whose channels a bottleneck weighs by their means."""
    yield convolution(role, name + ".in_conv", f"{width}, {before}, {size}, {size}")
    squeeze = name + ".squeeze_excitation_block."
    inner = f"{width} // reduction"
    yield convolution(role + "_squeeze", squeeze + "conv1", f"{inner}, {width}, 1, 1", bias="True")
    yield convolution(role + "_excite", squeeze + "conv2", f"{width}, {inner}, 1, 1", bias="True")


def head() -> Iterator[Row]:
    """The map at a quarter of the picture's resolution, doubled twice by transposed convolutions."""
    first, second, third = (f"kernel_list[{at}]" for at in range(3))
    shape = f"{NARROW}, neck_out_channels, {first}, {first}"
    yield from normed("head_in", HEAD + "conv_down", shape, words=("convolution", "norm"), heads=DETECTION)
    shape = f"{NARROW}, {NARROW}, {second}, {second}"
    yield convolution("head_up", HEAD + "conv_up.convolution", shape, bias="True", heads=DETECTION)
    yield from batch_norm("head_up_norm", HEAD + "conv_up.norm", NARROW, heads=DETECTION)
    shape = f"{NARROW}, 1, {third}, {third}"
    yield Row("head_out", HEAD + "conv_final", shape, heads=DETECTION, group="head")
    yield Row("head_out", HEAD + "conv_final", "1", heads=DETECTION, leaf="bias", group="head")


FAMILY = Family(
    name="pp_ocrv5_mobile_det",
    types={"pp_ocrv5_mobile_det": {}},
    rows=(
        Include("backbone_config", "model.backbone.", tower="vision", head="Backbone", default_type="pp_lcnet_v3"),
        convolution(
            "projection",
            "model.layer.{layer<len(backbone_config.channels)}",
            f"{GIVEN}[layer], backbone_config.channels[layer], 1, 1",
            bias="True",
        ),
        *weighed("insert", f"model.neck.insert_conv.{{layer<len({GIVEN})}}", "neck_out_channels", f"{GIVEN}[layer]", 1),
        *weighed("input", f"model.neck.input_conv.{{layer<len({GIVEN})}}", NARROW, "neck_out_channels", 3),
        *head(),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        "backbone_config": {"scale": 0.75, "out_indices": [2, 3, 4, 5], "divisor": 16},
        "reduction": 4,
        "neck_out_channels": 96,
        "kernel_list": [3, 2, 2],
        "layer_list_out_channels": [12, 18, 42, 360],
    },
)
