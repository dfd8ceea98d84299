"""MobileNetV5 of 300 million parameters, Gemma 3n's vision tower.

timm/models/mobilenetv5.py. The configuration only names the network, so its sizes stand here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.architectures.table import Family, Row

STEM = 64


class Stage(NamedTuple):
    """Blocks of one width; from `alone` on, every second one is attention."""

    number: int
    blocks: int
    width: int
    before: int  # width of the stage before
    factor: str  # by how much a block widens
    kernel: str  # of the convolution at the beginning of a block
    starts: str  # which blocks have it
    alone: int
    heads: int = 0
    head_dim: int = 0

    @property
    def at(self) -> str:
        return f"timm_model.blocks.{self.number}.{{block<{self.blocks}}}."

    @property
    def attends(self) -> str:
        return f"block >= {self.alone} and block % 2 == 1"


STAGES = (
    Stage(1, 5, 256, 128, "6 if block == 0 else 4", "5 if block % 2 == 1 else 3", "block < 5", 5),
    Stage(
        2, 37, 640, 256, "6 if block == 0 else 4 if block < 8 else 1 if block == 8 else 2", "5", "block < 8", 9, 12, 64
    ),
    Stage(3, 39, 1280, 640, "6 if block == 0 else 2", "5", "block == 0", 1, 16, 96),
)
FUSED = "(640 + 1280)"
OUT = "2048"


def convolution(role: str, at: str, out: str, before: str, kernel: str = "1", when: str = "") -> Iterator[Row]:
    """A convolution and its norm, which only scales."""
    shape = f"{out}, {before}, {kernel}, {kernel}"
    yield Row(role, at + ".conv", shape, when=when, tower="vision", group="convolution")
    yield Row(f"{role}_norm", at + ".bn", out, when=when, tower="vision")


def edge_blocks() -> Iterator[Row]:
    """The first stage: three blocks that widen fourfold by a convolution of three by three, and narrow again."""
    at = "timm_model.blocks.0.{block<3}."
    before = f"({STEM} if block == 0 else 128)"

    def row(role: str, name: str, shape: str, group: str) -> Row:
        return Row(role, at + name, shape, tower="vision", group=group)

    yield row("expansion", "conv_exp", f"4 * {before}, {before}, 3, 3", "convolution")
    yield row("expansion_norm", "bn1", f"4 * {before}", "norm")
    yield row("reduction", "conv_pwl", f"128, 4 * {before}, 1, 1", "convolution")
    yield row("reduction_norm", "bn2", "128", "norm")


def inverted_blocks(stage: Stage) -> Iterator[Row]:
    """Blocks that widen by a factor and narrow again; the first of a stage halves the image."""
    before = f"({stage.before} if block == 0 else {stage.width})"
    inner = f"({stage.factor}) * {before}"
    convolutions = (
        ("start", "dw_start", before, "1", stage.kernel, stage.starts),
        ("expand", "pw_exp", inner, before, "1", ""),
        ("mid", "dw_mid", inner, "1", "5", "block == 0"),
        ("project", "pw_proj", str(stage.width), inner, "1", ""),
    )
    for role, name, out, inside, kernel, own in convolutions:
        when = " and ".join(filter(None, (own, f"not ({stage.attends})" if stage.heads else "")))
        yield from convolution(role, stage.at + name, out, inside, kernel, when)


def attention(stage: Stage) -> Iterator[Row]:
    """Attention with one head for keys and values, which the third stage makes of an image half as large."""
    width, queries = stage.width, stage.heads * stage.head_dim

    def row(role: str, name: str, shape: str, group: str = "attention") -> Row:
        return Row(role, stage.at + name, shape, when=stage.attends, tower="vision", group=group)

    yield row("input_layernorm", "norm", str(width), "norm")
    yield row("q_proj", "attn.query.proj", f"{queries}, {width}, 1, 1")
    for role, word in (("k", "key"), ("v", "value")):
        if stage.number == 2:
            yield row(f"{role}_down", f"attn.{word}.down_conv", f"{width}, 1, 3, 3")
            yield row(f"{role}_down_norm", f"attn.{word}.norm", str(width), "norm")
        yield row(f"{role}_proj", f"attn.{word}.proj", f"{stage.head_dim}, {width}, 1, 1")
    yield row("o_proj", "attn.output.proj", f"{width}, {queries}, 1, 1")


def blocks(stage: Stage) -> Iterator[Row]:
    """All blocks of a stage."""
    yield from inverted_blocks(stage)
    if stage.heads:
        yield from attention(stage)
    gamma = stage.at + "layer_scale.gamma"
    yield Row("layer_scale", gamma, str(stage.width), tower="vision", leaf="", group="other")


FAMILY = Family(
    name="gemma3n_vision",
    types={"gemma3n_vision": {}},
    rows=(
        Row("embed_patches", "timm_model.conv_stem.conv", f"{STEM}, 3, 3, 3", bias="True", tower="vision"),
        Row("embed_norm", "timm_model.conv_stem.bn", str(STEM), tower="vision"),
        *edge_blocks(),
        *(row for stage in STAGES for row in blocks(stage)),
        *convolution("fusion_expand", "timm_model.msfa.ffn.pw_exp", f"2 * {FUSED}", FUSED),
        *convolution("fusion_project", "timm_model.msfa.ffn.pw_proj", OUT, f"2 * {FUSED}"),
        Row("norm", "timm_model.msfa.norm", OUT, tower="vision"),
    ),
    classes={"TimmWrapperModel": "Model"},
    defaults={"hidden_size": 2048, "vocab_size": 128},
    head="Model",
)
