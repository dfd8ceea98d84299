"""EdgeTAM's vision tower: RepViT-M1 of timm, and a neck that gives its four stages one width.

timm/models/repvit.py: the configuration only names the network, so its sizes stand here. Transformers' own default misspells
`architecture`, and gets the first three stages of timm's default, a residual network.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import batch_norm
from inspector.architectures.data.families.timm_backbone import FAMILY as TIMM
from inspector.architectures.table import Family, Include, Row

REPVIT = "backbone_config.architecture in ('repvit_m1', 'repvit_m1.dist_in1k', 'timm/repvit_m1.dist_in1k')"
WIDTHS = (48, 96, 192, 384)
DEPTHS = (2, 2, 14, 2)
STAGE_4 = " ".join(row.role for row in TIMM.rows if isinstance(row, Row) and row.role.startswith("stage4_"))


def convolution(role: str, name: str, out: int, before: int, kernel: int = 1) -> Iterator[Row]:
    """A convolution and its batch norm."""
    shape, name = f"{out}, {before}, {kernel}, {kernel}", f"backbone.timm_model.{name}"
    yield Row(role, name + ".c", shape, when=REPVIT, tower="vision", group="convolution")
    yield from batch_norm(f"{role}_norm", name + ".bn", str(out), when=REPVIT, tower="vision")


def mixers(role: str, name: str, width: int) -> Iterator[Row]:
    """What mixes places, by two kernels that are added up, and what mixes channels."""
    yield from convolution(f"{role}_places3", f"{name}.token_mixer.conv", width, 1, 3)
    yield from convolution(f"{role}_places1", f"{name}.token_mixer.conv1", width, 1)
    yield from feed_forward(role, f"{name}.channel_mixer", width)


def feed_forward(role: str, name: str, width: int) -> Iterator[Row]:
    """Twice the width, and back."""
    yield from convolution(f"{role}_up", f"{name}.conv1", 2 * width, width)
    yield from convolution(f"{role}_down", f"{name}.conv2", width, 2 * width)


def excitation(role: str, name: str, width: int) -> Iterator[Row]:
    """In every second block, what weighs channels: a quarter of them between, in whole eights."""
    inner = (width // 4 + 4) // 8 * 8
    for word, out, before in (("fc1", inner, width), ("fc2", width, inner)):
        yield Row(
            f"{role}_{word}",
            f"backbone.timm_model.{name}.{word}",
            f"{out}, {before}, 1, 1",
            bias="True",
            when=f"{REPVIT} and block % 2 == 0",
            tower="vision",
            group="convolution",
        )


def stage(number: int) -> Iterator[Row]:
    """The blocks of one stage, after what halves the image."""
    width, at, role = WIDTHS[number], f"stages_{number}", f"stage{number}"
    if number:
        before = WIDTHS[number - 1]
        yield from mixers(f"{role}_before", f"{at}.downsample.pre_block", before)
        yield from convolution(f"{role}_halve", f"{at}.downsample.spatial_downsample", before, 1, 3)
        yield from convolution(f"{role}_widen", f"{at}.downsample.channel_downsample", width, before)
        yield from feed_forward(f"{role}_after", f"{at}.downsample.ffn", width)
    block = f"{at}.blocks.{{block<{DEPTHS[number]}}}"
    yield from mixers(role, block, width)
    yield from excitation(role, f"{block}.se", width)


FAMILY = Family(
    name="edgetam_vision_model",
    types={"edgetam_vision_model": {}},
    rows=(
        Include(
            "backbone_config",
            "backbone.",
            tower="vision",
            head="Model",
            default_type="timm_wrapper",
            without=STAGE_4,
            when=f"not {REPVIT}",
        ),
        *convolution("stem1", "stem.conv1", WIDTHS[0] // 2, 3, 3),
        *convolution("stem2", "stem.conv2", WIDTHS[0], WIDTHS[0] // 2, 3),
        *(row for number in range(len(WIDTHS)) for row in stage(number)),
        Row(
            "convs",
            "neck.convs.{layer<len(backbone_channel_list)}",
            "fpn_hidden_size, backbone_channel_list[layer], fpn_kernel_size, fpn_kernel_size",
            bias="True",
            tower="vision",
            group="convolution",
        ),
    ),
    defaults={"backbone_config": {"architecture": "resnet50"}, "fpn_hidden_size": 256, "fpn_kernel_size": 1},
    derived={"backbone_channel_list": "[384, 192, 96, 48]"},
    head="Model",
)
