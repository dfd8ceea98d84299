"""RT-DETR's ResNet: three convolutions for a stem, and shortcuts that take means before they convolve."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import STAGES_GIVEN, counters, normed
from inspector.architectures.table import Family, Row

LAYER = "encoder.stages.{layer<len(depths)}.layers.{block<depths[layer]}."
BASIC, BOTTLENECK = "layer_type == 'basic'", "layer_type == 'bottleneck'"
WIDTH = "hidden_sizes[layer]"


def shortcuts() -> Iterator[Row]:
    """Where the channels change or the resolution is halved, the first block of a stage has one."""
    shape = f"{WIDTH}, stage_before, 1, 1"
    means = f"block == 0 and (stage_before != {WIDTH} if {BASIC} else halves)"
    plain = f"block == 0 and (stage_before == {WIDTH} if {BASIC} else not halves and stage_before != {WIDTH})"
    yield from normed("shortcut", LAYER + "shortcut.1", shape, when=means)
    yield from normed("shortcut", LAYER + "shortcut", shape, when=plain)


FAMILY = Family(
    name="rt_detr_resnet",
    types={"rt_detr_resnet": {}},
    rows=(
        *normed("stem", "embedder.embedder.{part<3}", "stem_widths[part + 1], stem_widths[part], 3, 3"),
        *normed(
            "convolution",
            LAYER + "layer.{part<3}",
            f"part_width, {WIDTH} // 4 if part > 0 else block_before, 3 if part == 1 else 1, 3 if part == 1 else 1",
            when=BOTTLENECK,
        ),
        *normed(
            "convolution", LAYER + "layer.{part<2}", f"{WIDTH}, {WIDTH} if part > 0 else block_before, 3, 3", when=BASIC
        ),
        *shortcuts(),
    ),
    head="Model",
    defaults={
        "num_channels": 3,
        "embedding_size": 64,
        "hidden_sizes": [256, 512, 1024, 2048],
        "depths": [3, 4, 6, 3],
        "layer_type": "bottleneck",
        "downsample_in_first_stage": False,
        "out_features": [],
    },
    derived={
        **STAGES_GIVEN,
        "stage_before": "hidden_sizes[layer - 1] if layer > 0 else embedding_size",
        "block_before": "hidden_sizes[layer] if block > 0 else stage_before",
        "part_width": "hidden_sizes[layer] if part == 2 else hidden_sizes[layer] // 4",
        "stem_widths": "[num_channels, embedding_size // 2, embedding_size // 2, embedding_size]",
        "halves": "layer > 0 or downsample_in_first_stage",
    },
)

#: Roles that detectors leave out, which freeze the norms.
COUNTERS = counters(FAMILY)
