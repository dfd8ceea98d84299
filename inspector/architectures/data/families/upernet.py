"""UPerNet: a head for segmentation over a backbone's features, a residual network's.

Other backbones have a norm for each stage that they give, which their tables do not have: no prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.architectures.data.families.shared import batch_norm
from inspector.architectures.table import Family, Include, Row

SEGMENTATION = "ForSemanticSegmentation"


class Words(NamedTuple):
    """What a model calls the parts of the head."""

    convolution: str = "conv"
    norm: str = "bn"
    pyramid: str = "psp_modules.{layer<len(pool_scales)}.1"
    bottleneck: str = "bottleneck"


def pyramid_head(width: str, features: str, last: str, words: Words, heads: str = "") -> Iterator[Row]:
    """UPerNet's head; `features` is the width of the backbone's stage `layer`, `last` of its last, the fourth."""

    def convolution(role: str, name: str, before: str, kernel: int) -> Iterator[Row]:
        yield Row(
            f"{role}_conv",
            f"decode_head.{name}.{words.convolution}",
            f"{width}, {before}, {kernel}, {kernel}",
            heads=heads,
            group="head",
        )
        yield from batch_norm(f"{role}_norm", f"decode_head.{name}.{words.norm}", width, heads=heads)

    yield Row("classifier", "decode_head.classifier", f"num_labels, {width}, 1, 1", bias="True", heads=heads)
    yield from convolution("pyramid", words.pyramid, last, 1)
    yield from convolution("bottleneck", words.bottleneck, f"{last} + len(pool_scales) * {width}", 3)
    yield from convolution("lateral", "lateral_convs.{layer<3}", features, 1)
    yield from convolution("fpn", "fpn_convs.{layer<3}", width, 3)
    yield from convolution("fpn_bottleneck", "fpn_bottleneck", f"4 * {width}", 3)


def auxiliary_head(before: str, words: Words, heads: str = "") -> Iterator[Row]:
    """A second, plain head over the third stage, which helps in training."""
    own, width = "use_auxiliary_head", "auxiliary_channels"

    def convolution(role: str, name: str, shape: str, when: str) -> Iterator[Row]:
        name = f"auxiliary_head.{name}."
        yield Row(
            f"{role}_conv", name + words.convolution, f"{width}, {shape}, 3, 3", when=when, heads=heads, group="head"
        )
        yield from batch_norm(f"{role}_norm", name + words.norm, width, when=when, heads=heads)

    at = "convs.{layer<auxiliary_num_convs}"
    yield from convolution("auxiliary", at, f"{before} if layer == 0 else {width}", own)
    joined = f"{own} and auxiliary_concat_input"
    yield from convolution("auxiliary_cat", "conv_cat", f"{before} + {width}", joined)
    yield Row(
        "auxiliary_classifier",
        "auxiliary_head.classifier",
        f"num_labels, {width}, 1, 1",
        bias="True",
        when=own,
        heads=heads,
        group="head",
    )


#: Fields of the two heads with what holds where a configuration leaves them out.
HEAD_DEFAULTS = {
    "auxiliary_channels": 256,
    "auxiliary_concat_input": False,
    "auxiliary_num_convs": 1,
    "pool_scales": [1, 2, 3, 6],
    "use_auxiliary_head": True,
}

WORDS = Words(norm="batch_norm")

FAMILY = Family(
    name="upernet",
    types={"upernet": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="resnet"),
        *pyramid_head("hidden_size", "features[layer]", "features[-1]", WORDS),
        *auxiliary_head("(auxiliary_in_channels or features[2])", WORDS),
    ),
    defaults={
        **HEAD_DEFAULTS,
        "auxiliary_in_channels": None,
        "backbone_config": {},
        "hidden_size": 512,
    },
    derived={
        "features": "backbone_config.hidden_sizes if backbone_config.model_type in (None, 'resnet')"
        " else features_of_this_backbone"
    },
    head=SEGMENTATION,
)
