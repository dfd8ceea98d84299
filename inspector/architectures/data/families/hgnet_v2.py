"""HGNetV2: blocks of a few convolutions, whose inputs and outputs two more join."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import STAGES_GIVEN, affine, counters, normed
from inspector.architectures.table import Family, Row

STAGE = "encoder.stages.{layer<len(stage_in_channels)}."
BLOCK = STAGE + "blocks.{block<stage_num_blocks[layer]}."
LAYER = BLOCK + "layers.{sublayer<stage_numb_of_layers[layer]}"
MIDDLE, KERNEL = "stage_mid_channels[layer]", "stage_kernel_size[layer]"
LIGHT, PLAIN = "stage_light_block[layer]", "not stage_light_block[layer]"


def activated(role: str, name: str, shape: str, when: str = "") -> Iterator[Row]:
    """A convolution with its norm, and a factor and an offset for what its activation gives."""
    yield from normed(role, name, shape, when=when)
    learned = " and ".join(filter(None, (when, "use_learnable_affine_block")))
    yield from affine(role + "_affine", name + ".lab", learned)


def stem() -> Iterator[Row]:
    first, middle = "stem_channels[0]", "stem_channels[1]"
    yield from activated("stem1", "embedder.stem1", f"{middle}, {first}, 3, 3")
    yield from activated("stem2a", "embedder.stem2a", f"{middle} // 2, {middle}, 2, 2")
    yield from activated("stem2b", "embedder.stem2b", f"{middle}, {middle} // 2, 2, 2")
    yield from activated("stem3", "embedder.stem3", f"{middle}, {middle} * 2, 3, 3")
    yield from activated("stem4", "embedder.stem4", f"stem_channels[2], {middle}, 1, 1")


FAMILY = Family(
    name="hgnet_v2",
    types={"hgnet_v2": {}},
    rows=(
        *stem(),
        *normed(
            "downsample", STAGE + "downsample", "stage_in_channels[layer], 1, 3, 3", when="stage_downsample[layer]"
        ),
        *activated("convolution", LAYER, f"{MIDDLE}, layer_before, {KERNEL}, {KERNEL}", PLAIN),
        *normed("conv1", LAYER + ".conv1", f"{MIDDLE}, layer_before, 1, 1", when=LIGHT),
        *activated("conv2", LAYER + ".conv2", f"{MIDDLE}, 1, {KERNEL}, {KERNEL}", LIGHT),
        *activated(
            "aggregation",
            BLOCK + "aggregation.{part<2}",
            "aggregation_widths[part + 1], aggregation_widths[part], 1, 1",
        ),
        Row("classifier", "fc", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    head="Model",
    defaults={
        "embedding_size": 64,
        "depths": [3, 4, 6, 3],
        "hidden_sizes": [256, 512, 1024, 2048],
        "out_features": [],
        "stem_channels": [3, 32, 48],
        "stage_in_channels": [48, 128, 512, 1024],
        "stage_mid_channels": [48, 96, 192, 384],
        "stage_out_channels": [128, 512, 1024, 2048],
        "stage_num_blocks": [1, 1, 3, 1],
        "stage_downsample": [False, True, True, True],
        "stage_light_block": [False, False, True, True],
        "stage_kernel_size": [3, 3, 5, 5],
        "stage_numb_of_layers": [6, 6, 6, 6],
        "use_learnable_affine_block": False,
    },
    derived={
        **STAGES_GIVEN,
        "block_before": "stage_in_channels[layer] if block == 0 else stage_out_channels[layer]",
        "layer_before": "block_before if sublayer == 0 else stage_mid_channels[layer]",
        "aggregation_widths": "[block_before + stage_numb_of_layers[layer] * stage_mid_channels[layer],"
        " stage_out_channels[layer] // 2, stage_out_channels[layer]]",
    },
)

#: Roles that detectors leave out, which freeze the norms.
COUNTERS = counters(FAMILY)
