"""PP-LCNet version 3: convolutions channel by channel and across, each trained as several side by side."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import STAGES_GIVEN, affine, batch_norm, convolution, normed
from inspector.architectures.table import Family, Row

LAYER = "encoder.blocks.{layer<len(block_configs)}.layers.{block<len(block_configs[layer])}."
#: Of a block: kernel, channels before and after, stride, and whether its channels are weighed.
KERNEL, STRIDE, WEIGHED = (f"block_configs[layer][block][{at}]" for at in (0, 3, 4))
SQUEEZE = LAYER + "squeeze_excitation_module.convolutions."


def width(channels: str) -> str:
    return f"divisible({channels} * scale, divisor)"


def side_by_side(role: str, after: str, before: str, kernel: str, same: str) -> Iterator[Row]:
    """Convolutions of one shape, a small one, and a norm alone where nothing changes; they become one in use."""
    name = f"{LAYER}{role}_convolution."
    branch = name + "conv_symmetric.{branch<conv_symmetric_num}"
    yield from normed(role, branch, f"{after}, {before}, {kernel}, {kernel}")
    yield from normed(role + "_small", name + "conv_small_symmetric", f"{after}, {before}, 1, 1", when=f"{kernel} > 1")
    yield from batch_norm(role + "_identity", name + "identity", after, when=same)
    yield from affine(role + "_affine", name + "lab")
    yield from affine(role + "_activation_affine", name + "act.lab")


FAMILY = Family(
    name="pp_lcnet_v3",
    types={"pp_lcnet_v3": {}},
    rows=(
        *normed("embed_patches", "encoder.convolution", f"{width('stem_channels')}, 3, 3, 3"),
        *side_by_side("depthwise", "before", "1", KERNEL, f"{STRIDE} == 1"),
        convolution("squeeze", SQUEEZE + "0", "before // reduction, before, 1, 1", bias="True", when=WEIGHED),
        convolution("squeeze", SQUEEZE + "2", "before, before // reduction, 1, 1", bias="True", when=WEIGHED),
        *side_by_side("pointwise", "after", "before", "1", "before == after"),
    ),
    head="Backbone",
    defaults={
        "scale": 1.0,
        "stem_channels": 16,
        "reduction": 4,
        "divisor": 8,
        "conv_symmetric_num": 4,
        "out_features": [],
        "block_configs": [
            [[3, 16, 32, 1, False]],
            [[3, 32, 64, 2, False], [3, 64, 64, 1, False]],
            [[3, 64, 128, 2, False], [3, 128, 128, 1, False]],
            [[3, 128, 256, 2, False], *[[5, 256, 256, 1, False]] * 4],
            [[5, 256, 512, 2, True], [5, 512, 512, 1, True], *[[5, 512, 512, 1, False]] * 2],
        ],
    },
    derived={
        "before": width("block_configs[layer][block][1]"),
        "after": width("block_configs[layer][block][2]"),
        "last_width": width("block_configs[-1][-1][2]"),
        "depths": "[len(block_configs[stage]) for stage in range(len(block_configs))]",
        "out_indices": STAGES_GIVEN["out_indices"],
        "channels": "[scaled(block_configs[out_indices[at] - 1][-1][2], scale) if out_indices[at] > 0"
        " else stem_channels for at in range(len(out_indices))]",
    },
)
