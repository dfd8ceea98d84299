"""Mask2Former: queries that become masks over features of all scales, each looking where its mask was."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import convolution
from inspector.architectures.data.families.rt_detr import feed_forward, layer_norms, linear
from inspector.architectures.table import Family, Include, Row

PIXELS = "model.pixel_level_module."
PIXEL_DECODER = PIXELS + "decoder."
PIXEL_LAYER = PIXEL_DECODER + "encoder.layers.{layer<encoder_layers}."
TRANSFORMER = "model.transformer_module."
#: The first prediction is made before the first layer.
LAYER = TRANSFORMER + "decoder.layers.{layer<decoder_layers - 1}."
SEGMENTATION = "ForUniversalSegmentation"
SCALES = 3
POINTS = 4


def in_group(role: str, name: str, shape: str, *, bias: str = "", when: str = "") -> Iterator[Row]:
    """A convolution and a norm over groups of its channels, numbered 0 and 1."""
    width = shape.split(",", maxsplit=1)[0]
    yield convolution(role, f"{name}.0", shape, bias=bias, when=when, tower="encoder")
    yield Row(f"{role}_norm", f"{name}.1", width, bias="True", when=when, tower="encoder", group="norm")


def pixel_decoder(width: str, mask_width: str, strides: str) -> Iterator[Row | Include]:
    """A transformer over the three coarsest scales, and convolutions that bring them to the finer ones."""
    yield Include("backbone_config", PIXELS + "encoder.", tower="vision", head="Backbone", default_type="swin")
    before = "backbone_config.channels[-1 - layer]"
    name = f"{PIXEL_DECODER}input_projections.{{layer<{SCALES}}}"
    yield from in_group("input_projection", name, f"{width}, {before}, 1, 1", bias="True")
    yield Row("level_embed", PIXEL_DECODER + "level_embed", f"{SCALES}, {width}", leaf="", tower="encoder")
    attention = PIXEL_LAYER + "self_attn."
    for role, word, rows in (
        ("sampling_offsets", "sampling_offsets", f"num_attention_heads * {SCALES * POINTS * 2}"),
        ("attention_weights", "attention_weights", f"num_attention_heads * {SCALES * POINTS}"),
        ("v_proj", "value_proj", width),
        ("o_proj", "output_proj", width),
    ):
        yield linear(role, attention + word, f"{rows}, {width}", "encoder", group="attention")
    yield from feed_forward(PIXEL_LAYER, width, "encoder_feedforward_dim", "encoder")
    yield from layer_norms(PIXEL_LAYER, width, "encoder")
    mask = PIXEL_DECODER + "mask_projection"
    yield convolution("mask_projection", mask, f"{mask_width}, {width}, 1, 1", bias="True", tower="encoder")
    for level in (1, 2, 3, 4):
        # As many as the features are doubled between the finest of the three scales and the masks'.
        doubled = f"{strides}[-{SCALES}] >= common_stride * {2**level}"
        when = f"{doubled} and len(backbone_config.channels) >= {level}"
        shape = f"{width}, backbone_config.channels[{level - 1}], 1, 1"
        yield from in_group(f"adapter{level}", f"{PIXEL_DECODER}adapter_{level}", shape, when=when)
        yield from in_group(f"layer{level}", f"{PIXEL_DECODER}layer_{level}", f"{width}, {width}, 3, 3", when=when)


def self_attention(prefix: str, width: str) -> Iterator[Row]:
    for role, word in {"q_proj": "q_proj", "k_proj": "k_proj", "v_proj": "v_proj", "o_proj": "out_proj"}.items():
        yield linear(role, f"{prefix}self_attn.{word}", f"{width}, {width}", "decoder")


def joined_attention(prefix: str, width: str, before: str, tower: str) -> Iterator[Row]:
    """PyTorch's own attention, whose projections are one matrix."""
    yield Row(before + "qkv_proj", prefix, f"3 * {width}, {width}", bias="True", leaf="in_proj_weight", tower=tower)
    yield linear(before + "o_proj", prefix + ".out_proj", f"{width}, {width}", tower)


def decoder() -> Iterator[Row]:
    yield from self_attention(LAYER, "hidden_dim")
    yield from joined_attention(LAYER + "cross_attn", "hidden_dim", "cross_", "decoder")
    yield linear("cross_layernorm", LAYER + "cross_attn_layer_norm", "hidden_dim", "decoder", group="norm")
    yield from feed_forward(LAYER, "hidden_dim", "dim_feedforward", "decoder")
    yield from layer_norms(LAYER, "hidden_dim", "decoder")
    yield linear("norm", TRANSFORMER + "decoder.layernorm", "hidden_dim", "decoder")


def class_weights() -> Row:
    """What a class counts for in the loss."""
    return Row(
        "class_weights",
        "criterion.empty_weight",
        "num_labels + 1",
        heads=SEGMENTATION,
        leaf="",
        buffer=True,
        persistent=True,
    )


STAGES = {"out_features": ["stage1", "stage2", "stage3", "stage4"]}

FAMILY = Family(
    name="mask2former",
    types={"mask2former": {}},
    rows=(
        *pixel_decoder("feature_size", "mask_feature_size", "feature_strides"),
        Row("embed_queries", TRANSFORMER + "queries_embedder", "num_queries, hidden_dim", tower="decoder"),
        Row(
            "query_features",
            TRANSFORMER + "queries_features",
            "num_queries, hidden_dim",
            group="embedding",
            tower="decoder",
        ),
        Row("level_embed", TRANSFORMER + "level_embed", f"{SCALES}, hidden_dim", tower="decoder"),
        convolution(
            "input_projection",
            f"{TRANSFORMER}input_projections.{{layer<{SCALES}}}",
            "hidden_dim, feature_size, 1, 1",
            bias="True",
            when="feature_size != hidden_dim or enforce_input_projection",
            tower="decoder",
        ),
        *decoder(),
        Row(
            "mask_predictor",
            TRANSFORMER + "decoder.mask_predictor.mask_embedder.{part<3}.0",
            "mask_feature_size if part == 2 else hidden_dim, hidden_dim",
            bias="True",
            tower="decoder",
            group="head",
        ),
        Row("classifier", "class_predictor", "num_labels + 1, hidden_dim", bias="True", heads=SEGMENTATION),
        class_weights(),
    ),
    prefix="model.",
    head=SEGMENTATION,
    defaults={
        "backbone_config": {**STAGES, "depths": [2, 2, 18, 2]},
        "feature_size": 256,
        "mask_feature_size": 256,
        "hidden_dim": 256,
        "encoder_feedforward_dim": 1024,
        "encoder_layers": 6,
        "decoder_layers": 10,
        "num_attention_heads": 8,
        "dim_feedforward": 2048,
        "enforce_input_projection": False,
        "common_stride": 4,
        "num_queries": 100,
        "feature_strides": [4, 8, 16, 32],
    },
    fields={"hidden_size": "hidden_dim", "num_hidden_layers": "decoder_layers"},
)
