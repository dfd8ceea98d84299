"""Janus' images as tokens: a convolutional encoder and decoder with a codebook between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.architectures.table import Family, Row

ENCODER, DECODER = "vq_encoder", "vq_decoder"
WIDEST = "base_channels * channel_multiplier[-1]"
NARROWEST = "base_channels * channel_multiplier[0]"


def convolution(role: str, name: str, out: str, into: str, kernel: int, tower: str, when: str = "") -> Row:
    return Row(
        role,
        name,
        f"{out}, {into}, {kernel}, {kernel}",
        bias="True",
        when=when,
        tower=tower,
        group="convolution",
    )


def norm(role: str, name: str, width: str, tower: str, when: str = "") -> tuple[Row, ...]:
    return (Row(role, name, width, bias="True", when=when, tower=tower, group="norm"),)


def resnet_block(
    at: str, out: str, into: str, tower: str, before: str = "", norm: Callable[..., tuple[Row, ...]] = norm
) -> Iterator[Row]:
    """Two convolutions beside which the input goes by, through one of its own where the width changes."""
    yield from norm(before + "norm1", at + ".norm1", into, tower)
    yield convolution(before + "conv1", at + ".conv1", out, into, 3, tower)
    yield from norm(before + "norm2", at + ".norm2", out, tower)
    yield convolution(before + "conv2", at + ".conv2", out, out, 3, tower)
    if into != out:
        yield convolution(before + "shortcut", at + ".nin_shortcut", out, into, 1, tower, f"({into}) != ({out})")


def attention_block(at: str, width: str, tower: str, before: str = "", when: str = "") -> Iterator[Row]:
    """Attention between the places of an image, its projections written as convolutions."""
    yield from norm(before + "attn_norm", at + ".norm", width, tower, when)
    for role, word in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("o_proj", "proj_out")):
        shape = f"{width}, {width}, 1, 1"
        yield Row(before + role, f"{at}.{word}", shape, bias="True", when=when, tower=tower, group="attention")


def middle(side: str, tower: str) -> Iterator[Row]:
    """Two blocks at the widest, with attention between them."""
    yield from resnet_block(side + ".mid.block_1", WIDEST, WIDEST, tower, "mid1_")
    yield from attention_block(side + ".mid.attn_1", WIDEST, tower, "mid_")
    yield from resnet_block(side + ".mid.block_2", WIDEST, WIDEST, tower, "mid2_")


def encoder() -> Iterator[Row]:
    """Stages each of which ends with half the resolution, the last with attention."""
    stage = "encoder.down.{level<len(channel_multiplier)}"
    width = "base_channels * channel_multiplier[level]"
    before = "base_channels * (channel_multiplier[level - 1] if level else 1)"
    last = "level == len(channel_multiplier) - 1"
    yield convolution("conv_in", "encoder.conv_in", "base_channels", "in_channels", 3, ENCODER)
    block = stage + ".block.{block<num_res_blocks}"
    yield from resnet_block(block, width, f"{width} if block else {before}", ENCODER)
    yield from attention_block(stage + ".attn.{block<num_res_blocks}", width, ENCODER, when=last)
    yield convolution("downsample", stage + ".downsample.conv", width, width, 3, ENCODER, f"not ({last})")
    yield from middle("encoder", ENCODER)
    yield from norm("norm_out", "encoder.norm_out", WIDEST, ENCODER)
    latents = "2 * latent_channels if double_latent else latent_channels"
    yield convolution("conv_out", "encoder.conv_out", latents, WIDEST, 3, ENCODER)


def decoder() -> Iterator[Row]:
    """The encoder's stages the other way round, with one block more each."""
    stage = "decoder.up.{level<len(channel_multiplier)}"
    width = "base_channels * channel_multiplier[-1 - level]"
    before = "base_channels * channel_multiplier[-max(level, 1)]"
    last = "level == len(channel_multiplier) - 1"
    yield convolution("conv_in", "decoder.conv_in", WIDEST, "latent_channels", 3, DECODER)
    yield from middle("decoder", DECODER)
    block = stage + ".block.{block<num_res_blocks + 1}"
    yield from resnet_block(block, width, f"{width} if block else {before}", DECODER)
    yield from attention_block(stage + ".attn.{block<num_res_blocks + 1}", width, DECODER, when="level == 0")
    yield convolution("upsample", stage + ".upsample.conv", width, width, 3, DECODER, f"not ({last})")
    yield from norm("norm_out", "decoder.norm_out", NARROWEST, DECODER)
    yield convolution("conv_out", "decoder.conv_out", "out_channels", NARROWEST, 3, DECODER)


FAMILY = Family(
    name="janus_vqgan",
    types={"janus_vqgan": {}},
    rows=(
        *encoder(),
        convolution("quant_conv", "quant_conv", "embed_dim", "latent_channels", 1, "text"),
        Row("codebook", "quantize.embedding", "num_embeddings, embed_dim", group="embedding"),
        convolution("post_quant_conv", "post_quant_conv", "latent_channels", "embed_dim", 1, "text"),
        *decoder(),
    ),
    head="Model",
    defaults={
        "base_channels": 128,
        "channel_multiplier": [1, 1, 2, 2, 4],
        "double_latent": False,
        "embed_dim": 8,
        "image_token_embed_dim": 2048,
        "in_channels": 3,
        "latent_channels": 256,
        "num_embeddings": 16384,
        "num_hidden_layers": 2,
        "num_res_blocks": 2,
        "out_channels": 3,
        "projection_dim": 2048,
    },
)
