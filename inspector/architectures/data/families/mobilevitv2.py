"""MobileViTV2: MobileNetV2's blocks in two stages, then three whose features a transformer mixes."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import convolution, inverted_residual, normed
from inspector.architectures.table import Family, Row

BODY = "mobilevitv2."
STAGE = BODY + "encoder.layer.{layer<5}."
BLOCK = STAGE + "transformer.layer.{block<n_attn_blocks[layer - 2] if layer > 1 else 0}."
MIXED = "layer > 1"
WIDTH = "attention_widths[layer - 2]"
INNER = f"ffn_multiplier * {WIDTH} // 16 * 16"
CLASSES, SEGMENTATION = "ForImageClassification", "ForSemanticSegmentation"
ASPP = "segmentation_head.aspp."


def inside(width: str) -> str:
    return f"divisible(round({width} * expand_ratio), 8)"


def pointwise(role: str, name: str, shape: str) -> Row:
    return Row(role, f"{BLOCK}{name}.convolution", f"{shape}, 1, 1", bias="True")


def transformer() -> Iterator[Row]:
    """Its queries are one channel wide; linear layers are written as convolutions."""
    yield Row("input_layernorm", BLOCK + "layernorm_before", WIDTH, bias="True")
    yield pointwise("qkv_proj", "attention.qkv_proj", f"1 + 2 * {WIDTH}, {WIDTH}")
    yield pointwise("o_proj", "attention.out_proj", f"{WIDTH}, {WIDTH}")
    yield Row("post_attention_layernorm", BLOCK + "layernorm_after", WIDTH, bias="True")
    yield pointwise("up_proj", "ffn.conv1", f"{INNER}, {WIDTH}")
    yield pointwise("down_proj", "ffn.conv2", f"{WIDTH}, {INNER}")


def segmentation_head() -> Iterator[Row]:
    """DeepLabV3's: four convolutions that see differently far, one of the mean, and what joins the five."""
    size = "1 if layer == 0 else 3"
    yield from normed(
        "aspp", ASPP + "convs.{layer<4}", f"aspp_out_channels, widths[5], {size}, {size}", heads=SEGMENTATION
    )
    yield from normed("aspp_pool", ASPP + "convs.4.conv_1x1", "aspp_out_channels, widths[5], 1, 1", heads=SEGMENTATION)
    yield from normed(
        "aspp_project", ASPP + "project", "aspp_out_channels, 5 * aspp_out_channels, 1, 1", heads=SEGMENTATION
    )
    yield Row(
        "classifier",
        "segmentation_head.classifier.convolution",
        "num_labels, aspp_out_channels, 1, 1",
        bias="True",
        heads=SEGMENTATION,
    )


FAMILY = Family(
    name="mobilevitv2",
    types={"mobilevitv2": {}},
    rows=(
        *normed("embed_patches", BODY + "conv_stem", "widths[0], num_channels, 3, 3"),
        *inverted_residual(
            BODY + "encoder.layer.{layer<2}.layer.{block<layer + 1}",
            "block_before",
            inside("block_before"),
            "widths[layer + 1]",
        ),
        *inverted_residual(
            STAGE + "downsampling_layer", "widths[layer]", inside("widths[layer]"), "widths[layer + 1]", MIXED
        ),
        *normed(
            "local_convolution",
            STAGE + "conv_kxk",
            "widths[layer + 1], 1, conv_kernel_size, conv_kernel_size",
            when=MIXED,
        ),
        convolution("in_convolution", STAGE + "conv_1x1.convolution", f"{WIDTH}, widths[layer + 1], 1, 1", when=MIXED),
        *transformer(),
        Row("norm", STAGE + "layernorm", WIDTH, bias="True", when=MIXED),
        *normed("out_convolution", STAGE + "conv_projection", f"widths[layer + 1], {WIDTH}, 1, 1", when=MIXED),
        *segmentation_head(),
        Row("classifier", "classifier", "num_labels, widths[5]", bias="True", heads=CLASSES),
    ),
    prefix=BODY,
    head="Model",
    defaults={
        "num_channels": 3,
        "expand_ratio": 2.0,
        "conv_kernel_size": 3,
        "aspp_out_channels": 512,
        "n_attn_blocks": [2, 4, 3],
        "base_attn_unit_dims": [128, 192, 256],
        "width_multiplier": 1.0,
        "ffn_multiplier": 2,
    },
    derived={
        "widths": "[divisible(max(16, min(64, 32 * width_multiplier)), 8, 16) if stage == 0"
        " else divisible([32, 64, 128, 256, 384, 512][stage] * width_multiplier, 16 if stage == 1 else 8)"
        " for stage in range(6)]",
        "attention_widths": "[divisible(base_attn_unit_dims[stage] * width_multiplier, 8) for stage in range(3)]",
        "block_before": "widths[layer] if block == 0 else widths[layer + 1]",
    },
)
