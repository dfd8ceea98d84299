"""Emu3's images and films as tokens: a convolutional encoder and decoder, over time too, with a codebook between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.architectures.data.families.janus_vqgan import (
    DECODER,
    ENCODER,
    NARROWEST,
    WIDEST,
    convolution,
    norm,
    resnet_block,
)
from inspector.architectures.table import Family, Row

ATTENDS = "level in attn_resolutions"
LATENTS = "2 * latent_channels if double_latent else latent_channels"
STATISTICS = ("running_mean", "running_var")


def spatial_norm(role: str, name: str, width: str, tower: str, when: str = "") -> tuple[Row, ...]:
    """A norm whose scale and shift are made of the codes at each place."""
    shape = f"{width}, embed_dim, 1, 1"
    return (
        *norm(role, name + ".norm_layer", width, tower, when),
        *(
            Row(f"{role}_{word}", f"{name}.{word}", shape, bias="True", when=when, tower=tower, group="norm")
            for word in ("conv_y", "conv_b")
        ),
    )


def attention(at: str, tower: str, before: str = "", when: str = "") -> Iterator[Row]:
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        shape = "hidden_size, hidden_size"
        yield Row(before + role, f"{at}.{word}", shape, bias="True", when=when, tower=tower, group="attention")


def middle(side: str, tower: str, norm: Callable[..., tuple[Row, ...]]) -> Iterator[Row]:
    """Two blocks at the widest, with attention between them."""
    at = side + ".middle_block"
    yield from resnet_block(at + ".block_1", WIDEST, WIDEST, tower, "mid1_", norm)
    yield from norm("mid_attn_norm", at + ".attn_norm", WIDEST, tower)
    yield from attention(at + ".attn_1", tower, "mid_")
    yield from resnet_block(at + ".block_2", WIDEST, WIDEST, tower, "mid2_", norm)


def over_time(side: str, tower: str, width: str, kernel: int) -> Iterator[Row]:
    """Convolutions over time: one for each time that the frames become half or double as many, and blocks."""
    each = f"{side}.time_conv.{{level<halvings}}.conv.conv"
    shape = f"{width}, {width}"
    yield Row("time_conv", each, f"{shape}, {kernel}, 3, 3", bias="True", tower=tower)
    block = side + ".time_res_stack.{block<num_res_blocks}"
    for number in (1, 2):
        at = f"{block}.norm{number}"
        yield from norm(f"time_norm{number}", at, width, tower)
        for word in STATISTICS:
            role = f"time_norm{number}_{word}"
            yield Row(role, f"{at}.{word}", width, tower=tower, leaf="", buffer=True, persistent=True)
        role, counter = f"time_norm{number}_batches", at + ".num_batches_tracked"
        yield Row(role, counter, "", tower=tower, leaf="", buffer=True, persistent=True)
        convolved = f"{block}.conv{number}.conv"
        yield Row(f"time_conv{number}", convolved, f"{shape}, 3, 3, 3", bias="True", tower=tower)


def encoder() -> Iterator[Row]:
    """Stages each of which ends with half the resolution."""
    stage = "encoder.down_block.down.{level<len(channel_multiplier)}"
    width = "base_channels * channel_multiplier[level]"
    before = "base_channels * (channel_multiplier[level - 1] if level else 1)"
    block = "{block<num_res_blocks}"
    yield convolution("conv_in", "encoder.conv_in", "base_channels", "in_channels", 3, ENCODER)
    yield from resnet_block(f"{stage}.block.{block}", width, f"{width} if block else {before}", ENCODER)
    yield from norm("attn_norm", f"{stage}.attn_norms.{block}", width, ENCODER, ATTENDS)
    yield from attention(f"{stage}.attn.{block}", ENCODER, when=ATTENDS)
    last = "level == len(channel_multiplier) - 1"
    yield convolution("downsample", stage + ".downsample.conv", width, width, 3, ENCODER, f"not ({last})")
    yield from middle("encoder", ENCODER, norm)
    yield from norm("norm_out", "encoder.norm_out", WIDEST, ENCODER)
    yield convolution("conv_out", "encoder.conv_out", LATENTS, WIDEST, 3, ENCODER)
    yield from over_time("encoder", ENCODER, f"({LATENTS})", 4)


def decoder() -> Iterator[Row]:
    """The encoder's stages from the last to the first, with one block more each."""
    stage = "decoder.up_block.up.{level<len(channel_multiplier)}"
    width = "base_channels * channel_multiplier[level]"
    before = "base_channels * channel_multiplier[min(level + 1, len(channel_multiplier) - 1)]"
    block = "{block<num_res_blocks + 1}"
    yield from over_time("decoder", DECODER, "latent_channels", 3)
    yield convolution("conv_in", "decoder.conv_in", WIDEST, "latent_channels", 3, DECODER)
    yield from middle("decoder", DECODER, spatial_norm)
    into = f"{width} if block else {before}"
    yield from resnet_block(f"{stage}.block.{block}", width, into, DECODER, norm=spatial_norm)
    yield from spatial_norm("attn_norm", f"{stage}.attn_norms.{block}", width, DECODER, ATTENDS)
    yield from attention(f"{stage}.attn.{block}", DECODER, when=ATTENDS)
    yield convolution("upsample", stage + ".upsample.conv", width, width, 3, DECODER, "level > 0")
    yield from spatial_norm("norm_out", "decoder.norm_out", NARROWEST, DECODER)
    yield convolution("conv_out", "decoder.conv_out", "out_channels", NARROWEST, 3, DECODER)


FAMILY = Family(
    name="emu3_vqgan",
    types={"emu3_vqgan": {}},
    rows=(
        *encoder(),
        Row("quant_conv", "quant_conv.conv", "embed_dim, latent_channels, 3, 1, 1", bias="True"),
        Row("codebook", "quantize.embedding", "codebook_size, embed_dim", group="embedding"),
        Row("post_quant_conv", "post_quant_conv.conv", "latent_channels, embed_dim, 3, 1, 1", bias="True"),
        *decoder(),
    ),
    head="Model",
    defaults={
        "attn_resolutions": [3],
        "base_channels": 256,
        "channel_multiplier": [1, 2, 2, 4],
        "codebook_size": 32768,
        "double_latent": False,
        "embed_dim": 4,
        "hidden_size": 1024,
        "in_channels": 3,
        "latent_channels": 4,
        "num_res_blocks": 2,
        "out_channels": 3,
        "temporal_downsample_factor": 4,
    },
    # The logarithm of two, rounded down.
    derived={"halvings": "sum([2 ** (power + 1) <= temporal_downsample_factor for power in range(16)])"},
)
