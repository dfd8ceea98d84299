"""timm's residual networks, as Transformers wraps them: `timm_wrapper` for themselves, `timm_backbone` in a detector.

timm/models/resnet.py. Of other architectures of timm the sizes are nowhere in the configuration: no prediction.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import batch_norm, counters
from inspector.architectures.table import Family, Row

STAGES = range(4)


def convolution(role: str, name: str, shape: str, when: str = "") -> Row:
    return Row(role, "timm_model." + name, shape, when=when, group="convolution", tower="vision")


def norm(role: str, name: str, size: str, when: str = "") -> Iterator[Row]:
    yield from batch_norm(role, "timm_model." + name, size, when=when, tower="vision")


def stage(number: int) -> Iterator[Row]:
    """The blocks of one stage: of two convolutions, or of three that narrow and widen."""
    name = f"layer{number + 1}.{{block<depths[{number}]}}."
    width = 64 * 2**number
    out = f"{width} * expansion"
    before = "64" if number == 0 else f"{width // 2} * expansion"
    inner = f"{out} if block > 0 else {before}"
    wide = "expansion > 1"
    narrows = "" if number else wide
    role = f"stage{number + 1}_"
    yield convolution(role + "conv1", name + "conv1", f"{width}, {inner}, 1 if {wide} else 3, 1 if {wide} else 3")
    yield from norm(role + "norm1", name + "bn1", str(width))
    yield convolution(role + "conv2", name + "conv2", f"{width}, {width}, 3, 3")
    yield from norm(role + "norm2", name + "bn2", str(width))
    yield convolution(role + "conv3", name + "conv3", f"{out}, {width}, 1, 1", wide)
    yield from norm(role + "norm3", name + "bn3", out, wide)
    first = " and ".join(filter(None, ("block == 0", narrows)))
    yield convolution(role + "downsample", name + "downsample.0", f"{out}, {before}, 1, 1", first)
    yield from norm(role + "downsample", name + "downsample.1", out, first)


FAMILY = Family(
    name="timm_backbone",
    types={"timm_backbone": {}, "timm_wrapper": {}},
    rows=(
        convolution("embed_patches", "conv1", "64, num_channels, 7, 7"),
        *norm("stem_norm", "bn1", "64"),
        *(row for number in STAGES for row in stage(number)),
        Row(
            "classifier",
            "timm_model.fc",
            "num_classes, 512 * expansion",
            bias="True",
            heads="ForImageClassification",
            tower="vision",
        ),
    ),
    prefix="timm_model.",
    prefixes={"Model": "timm_model."},
    head="Model",
    defaults={"architecture": "resnet50", "num_channels": 3, "label_names": ["LABEL_0", "LABEL_1"]},
    derived={
        "depths": "[2, 2, 2, 2] if architecture == 'resnet18'"
        " else [3, 4, 6, 3] if architecture in ['resnet34', 'resnet50']"
        " else [3, 4, 23, 3] if architecture == 'resnet101'"
        " else [3, 8, 36, 3] if architecture == 'resnet152' else depths_of_this_timm_architecture",
        "expansion": "1 if architecture in ['resnet18', 'resnet34'] else 4",
        "num_classes": "len(label_names)",
    },
    fields={"backbone": "architecture"},
)

#: Roles that detectors leave out, which freeze the norms.
COUNTERS = counters(FAMILY)
