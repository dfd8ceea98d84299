"""Depth Anything, and the neck that depth estimators after DPT have in common.

The neck makes images of a backbone's layers, each of another size, and joins them from the smallest up.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import batch_norm
from inspector.architectures.table import Family, Include, Row

SQUARE = "fusion_hidden_size, fusion_hidden_size"
BEFORE = "backbone_config.hidden_size"


def convolution(role: str, name: str, shape: str, *, bias: str = "True", when: str = "", group: str = "") -> Row:
    return Row(role, name, shape, bias=bias, when=when, group=group or "convolution")


def reassemble(at: str, channels: str, before: str = BEFORE, readout: str = "") -> Iterator[Row]:
    """Layers to images: `channels` wide each, larger by a factor of its own; `readout` asks for the class token."""
    layer = f"{at}.layers.{{layer<len({channels})}}"
    width, factor = f"{channels}[layer]", "reassemble_factors[layer]"
    kernel = f"int({factor}) if {factor} > 1 else 3"
    yield convolution("reassemble_projection", layer + ".projection", f"{width}, {before}, 1, 1")
    yield convolution("resize", layer + ".resize", f"{width}, {width}, {kernel}, {kernel}", when=f"{factor} != 1")
    if readout:
        name = f"{at}.readout_projects.{{layer<len({channels})}}.0"
        yield Row("readout_projects", name, f"{before}, 2 * {before}", bias="True", when=readout, group="other")


def fusion(at: str, *, bias: str = "True", norm: str = "", joins: str = "") -> Iterator[Row]:
    """A step of the joining: two residual blocks; `joins` says where there is something to join, else everywhere."""
    yield convolution("projection", at + ".projection", f"{SQUARE}, 1, 1")
    for block, when in (("residual_layer1", joins), ("residual_layer2", "")):
        for number in "12":
            name = f"{at}.{block}."
            role = f"{block}_convolution{number}"
            yield convolution(role, f"{name}convolution{number}", f"{SQUARE}, 3, 3", bias=bias, when=when)
            if norm:
                yield from batch_norm(
                    f"{block}_norm{number}", f"{name}batch_norm{number}", "fusion_hidden_size", when=norm
                )


def neck(before: str = BEFORE, readout: str = "", bias: str = "True", norm: str = "") -> Iterator[Row]:
    """The neck as most have it."""
    yield from reassemble("neck.reassemble_stage", "neck_hidden_sizes", before, readout)
    name = "neck.convs.{layer<len(neck_hidden_sizes)}"
    yield convolution("convs", name, "fusion_hidden_size, neck_hidden_sizes[layer], 3, 3", bias="")
    yield from fusion("neck.fusion_stage.layers.{layer<len(neck_hidden_sizes)}", bias=bias, norm=norm)


def head(name: str, inner: str) -> Iterator[Row]:
    """Three convolutions from the joined image to one depth a pixel."""
    width = "fusion_hidden_size"
    yield convolution("conv1", f"{name}.conv1", f"{width} // 2, {width}, 3, 3", group="head")
    yield convolution("conv2", f"{name}.conv2", f"{inner}, {width} // 2, 3, 3", group="head")
    yield convolution("conv3", f"{name}.conv3", f"1, {inner}, 1, 1", group="head")


DEFAULTS = {
    "fusion_hidden_size": 64,
    "head_hidden_size": 32,
    "neck_hidden_sizes": [48, 96, 192, 384],
    "reassemble_factors": [4, 2, 1, 0.5],
    "reassemble_hidden_size": 384,
}

FAMILY = Family(
    name="depth_anything",
    types={"depth_anything": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="dinov2"),
        *neck("reassemble_hidden_size"),
        *head("head", "head_hidden_size"),
    ),
    defaults={**DEFAULTS, "backbone_config": {"hidden_size": 384, "num_attention_heads": 6}},
    head="ForDepthEstimation",
)
