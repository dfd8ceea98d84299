"""Swin Transformer V2: stages of windowed attention, each twice as wide as the one before."""

from __future__ import annotations

from inspector.architectures.data.families.convolutions import STAGES_GIVEN
from inspector.architectures.table import Family, Row

STAGE = "swinv2.encoder.layers.{layer<len(depths)}"
BLOCK = STAGE + ".blocks.{block<depths[layer]}"
WIDTH = "embed_dim * 2 ** layer"
MERGED = "layer < len(depths) - 1"
IMAGES, MASKED, BACKBONE = "ForImageClassification", "ForMaskedImageModeling", "Backbone"


def windowed_attention(at: str, width: str) -> tuple[Row, ...]:
    """Attention within windows, whose positions a perceptron of 512 hidden units turns into a bias for each head."""
    square = f"{width}, {width}"
    return (
        Row("q_proj", at + ".self.query", square, bias="qkv_bias"),
        Row("k_proj", at + ".self.key", square),
        Row("v_proj", at + ".self.value", square, bias="qkv_bias"),
        Row("o_proj", at + ".output.dense", square, bias="True"),
        Row("logit_scale", at + ".self.logit_scale", "num_heads[layer], 1, 1", leaf="", group="attention"),
        Row(
            "continuous_position_bias_mlp",
            at + ".self.continuous_position_bias_mlp.0",
            "512, 2",
            bias="True",
            group="attention",
        ),
        Row(
            "continuous_position_bias_mlp",
            at + ".self.continuous_position_bias_mlp.2",
            "num_heads[layer], 512",
            group="attention",
        ),
    )


def windowed_layer(at: str, width: str) -> tuple[Row, ...]:
    """A layer: windowed attention and a feed-forward, a norm after each."""
    return (
        Row("input_layernorm", at + ".layernorm_before", width, bias="True"),
        *windowed_attention(at + ".attention", width),
        Row("post_attention_layernorm", at + ".layernorm_after", width, bias="True"),
        Row("up_proj", at + ".intermediate.dense", f"scaled({width}, mlp_ratio), {width}", bias="True"),
        Row("down_proj", at + ".output.dense", f"{width}, scaled({width}, mlp_ratio)", bias="True"),
    )


FAMILY = Family(
    name="swinv2",
    types={"swinv2": {}},
    rows=(
        Row("mask_token", "swinv2.embeddings.mask_token", "1, 1, embed_dim", heads=MASKED, leaf="", group="embedding"),
        Row(
            "embed_patches",
            "swinv2.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_norm", "swinv2.embeddings.norm", "embed_dim", bias="True"),
        Row(
            "embed_positions",
            "swinv2.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        *windowed_layer(BLOCK, WIDTH),
        Row("reduction", STAGE + ".downsample.reduction", f"2 * {WIDTH}, 4 * {WIDTH}", when=MERGED),
        Row("norm", STAGE + ".downsample.norm", f"2 * {WIDTH}", bias="True", when=MERGED),
        Row("layernorm", "swinv2.layernorm", "last_width", bias="True", heads=f"Model {IMAGES} {MASKED}"),
        Row("classifier", "classifier", "num_labels, last_width", bias="True", heads=IMAGES),
        Row(
            "decoder",
            "decoder.0",
            "encoder_stride ** 2 * num_channels, last_width, 1, 1",
            bias="True",
            heads=MASKED,
            group="head",
        ),
    ),
    prefix="swinv2.",
    prefixes={BACKBONE: ""},
    classes={"Swinv2Backbone": BACKBONE},
    defaults={
        "depths": [2, 2, 6, 2],
        "embed_dim": 96,
        "encoder_stride": 32,
        "image_size": 224,
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_heads": [3, 6, 12, 24],
        "patch_size": 4,
        "qkv_bias": True,
        "use_absolute_embeddings": False,
        "out_features": [],
    },
    derived={
        "num_layers": "len(depths)",
        "last_width": "embed_dim * 2 ** (len(depths) - 1)",
        "hidden_size": "last_width",
        "out_indices": STAGES_GIVEN["out_indices"],
        "channels": "[embed_dim * 2 ** max(out_indices[at] - 1, 0) for at in range(len(out_indices))]",
    },
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    head="Model",
)
