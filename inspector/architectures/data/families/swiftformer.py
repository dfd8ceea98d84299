"""SwiftFormer: stages of convolutional blocks, the last block of each with attention that costs linearly."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import batch_norm, convolution
from inspector.architectures.table import Family, Row

BODY = "swiftformer."
NETWORK = BODY + "encoder.network.{layer<starts[-1] + 1}."
BLOCK = NETWORK + "blocks.{block<depths[stage_at] if stage_at >= 0 else 0}."
WIDTH, INNER = "embed_dims[stage_at]", "scaled(embed_dims[stage_at], mlp_ratio)"
LAST = "block == depths[stage_at] - 1"
CLASSES = "ForImageClassification"


def square(width: str, size: int) -> str:
    return f"{width}, {size}, {size}"


def stem() -> Iterator[Row]:
    name = BODY + "patch_embed.patch_embedding."
    half = "embed_dims[0] // 2"
    for at, (out, before) in {0: (half, "num_channels"), 3: ("embed_dims[0]", half)}.items():
        yield Row("embed_patches", f"{name}{at}", square(f"{out}, {before}", 3), bias="True")
        yield from batch_norm("embed_norm", f"{name}{at + 1}", out)


def local(name: str, inner: str, when: str) -> Iterator[Row]:
    """A convolution channel by channel, and two across the channels."""
    yield convolution("depthwise", name + "depth_wise_conv", square(f"{WIDTH}, 1", 3), bias="True", when=when)
    yield from batch_norm("depthwise_norm", name + "norm", WIDTH, when=when)
    for at, shape in ((1, f"{inner}, {WIDTH}"), (2, f"{WIDTH}, {inner}")):
        yield convolution(f"pointwise{at}", f"{name}point_wise_conv{at}", square(shape, 1), bias="True", when=when)
    yield Row("layer_scale", name + "layer_scale", square(WIDTH, 1), when=when, leaf="")


def attention() -> Iterator[Row]:
    for role, word in {"q_proj": "to_query", "k_proj": "to_key", "o_proj": "proj", "final_o_proj": "final"}.items():
        yield Row(role, f"{BLOCK}attn.{word}", f"{WIDTH}, {WIDTH}", bias="True", when=LAST)
    yield Row("gate_attn", BLOCK + "attn.w_g", f"{WIDTH}, 1", when=LAST, leaf="")
    yield from batch_norm("pre_feedforward_layernorm", BLOCK + "linear.norm1", WIDTH, when=LAST)
    yield Row("up_proj", BLOCK + "linear.fc1", square(f"{INNER}, {WIDTH}", 1), bias="True", when=LAST)
    yield Row("down_proj", BLOCK + "linear.fc2", square(f"{WIDTH}, {INNER}", 1), bias="True", when=LAST)
    for at in (1, 2):
        name = f"layer_scale_{at}"
        yield Row(name, BLOCK + name, square(WIDTH, 1), when=f"use_layer_scale and {LAST}", leaf="")


FAMILY = Family(
    name="swiftformer",
    types={"swiftformer": {}},
    rows=(
        *stem(),
        *local(BLOCK, INNER, f"not ({LAST})"),
        *local(BLOCK + "local_representation.", WIDTH, LAST),
        *attention(),
        convolution(
            "downsample",
            NETWORK + "proj",
            "embed_dims[stage_before + 1], embed_dims[stage_before], down_patch_size, down_patch_size",
            bias="True",
            when="stage_at < 0",
        ),
        *batch_norm("downsample_norm", NETWORK + "norm", "embed_dims[stage_before + 1]", when="stage_at < 0"),
        *batch_norm("norm", "norm", "embed_dims[-1]", heads=CLASSES),
        Row("classifier", "head", "num_labels, embed_dims[-1]", bias="True", heads=CLASSES),
        Row("classifier_distill", "dist_head", "num_labels, embed_dims[-1]", bias="True", heads=CLASSES),
    ),
    prefix=BODY,
    head="Model",
    defaults={
        "num_channels": 3,
        "depths": [3, 3, 6, 4],
        "embed_dims": [48, 56, 112, 220],
        "mlp_ratio": 4,
        "downsamples": [True, True, True, True],
        "down_patch_size": 3,
        "use_layer_scale": True,
    },
    # Stages and what makes patches fewer between them stand in one list.
    derived={
        "shrinks": "[1 if downsamples[at] or embed_dims[at] != embed_dims[at + 1] else 0 for at in range(len(depths) - 1)]",
        "starts": "[at + sum([shrinks[before] for before in range(at)]) for at in range(len(depths))]",
        "stage_at": "place(starts, layer)",
        "stage_before": "place(starts, layer - 1)",
    },
)
