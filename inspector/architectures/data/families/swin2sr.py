"""Swin2SR: Swin Transformer V2's layers in stages of one width, and what makes a larger image of them."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.swinv2 import windowed_layer
from inspector.architectures.table import Family, Row

STAGE = "swin2sr.encoder.stages.{layer<len(depths)}"
RESOLUTION = "ForImageSuperResolution"
FEATURES = "64"
SHUFFLED = "upsampler in ('pixelshuffle', 'pixelshuffle_aux')"
NEAREST = "upsampler == 'nearest+conv'"
AUXILIARY = "upsampler == 'pixelshuffle_aux'"
PLAIN = "upsampler not in ('pixelshuffle', 'pixelshuffle_aux', 'pixelshuffledirect', 'nearest+conv')"


def convolution(name: str, shape: str, when: str = "", heads: str = RESOLUTION) -> Row:
    """A convolution by its module's own word; `shape` without its kernel of three by three."""
    return Row(
        name.rpartition(".")[2], name, f"{shape}, 3, 3", bias="True", when=when, heads=heads, group="convolution"
    )


def residual() -> Iterator[Row]:
    """The convolution that ends a stage; three with a waist between them where memory is to be saved."""
    row = Row("conv", STAGE + ".conv", "embed_dim, embed_dim, 3, 3", bias="True")
    yield row._replace(when="resi_connection == '1conv'")
    waist = {0: "embed_dim // 4, embed_dim, 3, 3", 2: "embed_dim // 4, embed_dim // 4, 1, 1"}
    for at, shape in {**waist, 4: "embed_dim, embed_dim // 4, 3, 3"}.items():
        yield row._replace(name=f"{STAGE}.conv.{at}", shape=shape, when="resi_connection == '3conv'")


def upsampler() -> Iterator[Row]:
    """The ways to a larger image: one doubling or more, one step, or the nearest pixels made smooth."""
    square = f"{FEATURES}, {FEATURES}"
    yield convolution("upsample.conv_bicubic", f"{FEATURES}, num_channels", AUXILIARY)
    yield convolution("upsample.conv_before_upsample", f"{FEATURES}, embed_dim", f"{SHUFFLED} or {NEAREST}")
    yield convolution("upsample.conv_aux", f"num_channels, {FEATURES}", AUXILIARY)
    yield convolution("upsample.conv_after_aux.0", f"{FEATURES}, 3", AUXILIARY)._replace(role="conv_after_aux")
    for at in range(3):
        doublings = f"{SHUFFLED} and upscale in (2, 4, 8) and upscale > {2**at}"
        yield convolution(f"upsample.upsample.convolution_{at}", f"4 * {FEATURES}, {FEATURES}", doublings)
    yield convolution("upsample.upsample.convolution", f"9 * {FEATURES}, {FEATURES}", f"{SHUFFLED} and upscale == 3")
    for word in ("conv_up1", "conv_up2", "conv_hr"):
        yield convolution(f"upsample.{word}", square, NEAREST)
    yield convolution("upsample.final_convolution", f"num_channels_out, {FEATURES}", f"{SHUFFLED} or {NEAREST}")
    one_step = "upsampler == 'pixelshuffledirect'"
    yield convolution("upsample.conv", "upscale ** 2 * num_channels_out, embed_dim", one_step)._replace(role="upsample")
    yield convolution("final_convolution", "num_channels_out, embed_dim", PLAIN)


FAMILY = Family(
    name="swin2sr",
    types={"swin2sr": {}},
    rows=(
        convolution("swin2sr.first_convolution", "embed_dim, num_channels", heads=""),
        Row(
            "embed_positions",
            "swin2sr.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        Row(
            "embed_patches",
            "swin2sr.embeddings.patch_embeddings.projection",
            "embed_dim, embed_dim, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_norm", "swin2sr.embeddings.patch_embeddings.layernorm", "embed_dim", bias="True"),
        *windowed_layer(STAGE + ".layers.{sublayer<depths[layer]}", "embed_dim"),
        *residual(),
        Row(
            "projection",
            STAGE + ".patch_embed.projection",
            "embed_dim, embed_dim, patch_size, patch_size",
            bias="True",
            group="embedding",
        ),
        Row("layernorm", "swin2sr.layernorm", "embed_dim", bias="True"),
        convolution("swin2sr.conv_after_body", "embed_dim, embed_dim", heads=""),
        *upsampler(),
    ),
    prefix="swin2sr.",
    defaults={
        "depths": [6, 6, 6, 6, 6, 6],
        "embed_dim": 180,
        "image_size": 64,
        "mlp_ratio": 2.0,
        "num_channels": 3,
        "num_heads": [6, 6, 6, 6, 6, 6],
        "patch_size": 1,
        "qkv_bias": True,
        "resi_connection": "1conv",
        "upsampler": "pixelshuffle",
        "upscale": 2,
        "use_absolute_embeddings": False,
    },
    derived={"num_channels_out": "num_channels"},
    fields={"hidden_size": "embed_dim", "num_attention_heads": "num_heads"},
    head="Model",
)
