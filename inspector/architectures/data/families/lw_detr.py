"""LW-DETR: DETR over a vision transformer, trained with many groups of queries at once."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import normed
from inspector.architectures.data.families.rt_detr import DETECTION, linear, perceptron
from inspector.architectures.data.families.sam2 import widened
from inspector.architectures.table import Family, Include, Row

DECODER = "model.decoder."
LAYER = DECODER + "layers.{layer<decoder_layers}."
SCALE = "model.backbone.projector.scale_layers.{layer<len(projector_scale_factors)}."
FACTOR = "projector_scale_factors[layer]"
GIVEN = "len(backbone_config.out_indices)"
#: The heads' widths together, which may be less than the model's.
HEADS = "decoder_self_attention_heads * (d_model // decoder_self_attention_heads)"
HIDDEN = "scaled(d_model, hidden_expansion)"
#: From this width on features are narrowed before their resolution is doubled.
WIDE = "backbone_config.hidden_size > 512"


def joined(
    name: str, block: str, before: str, words: tuple[str, str], numbered: tuple[str, str], *, statistics: bool = True
) -> Iterator[Row]:
    """The backbone's features joined: narrowed, through convolutions one after the other, and all of these joined again.

    Args:
        before: channels of the features together.
        words: what convolution and norm are called.
        statistics: whether the norms are over batches.
        numbered: what the two convolutions of a block, and those before and after the blocks, are called.
    """
    first, second = numbered
    for role, path, shape in (
        ("joined_in", first, f"2 * {HIDDEN}, {before}, 1, 1"),
        ("joined_block1", f"{block}.{first}", f"{HIDDEN}, {HIDDEN}, 3, 3"),
        ("joined_block2", f"{block}.{second}", f"{HIDDEN}, {HIDDEN}, 3, 3"),
        ("joined_out", second, f"d_model, (2 + c2f_num_blocks) * {HIDDEN}, 1, 1"),
    ):
        yield from normed(role, name + path, shape, words=words, tower="projector", statistics=statistics)


def sampled() -> Iterator[Row]:
    """Features brought to a scale: a transposed convolution doubles the resolution, a plain one halves it."""
    name, width = SCALE + f"sampling_layers.{{at<{GIVEN}}}.layers.", "backbone_config.hidden_size"
    doubles, words = f"{FACTOR} == 2", ("conv", "norm")
    shape = f"{width} // 2, {width}, 1, 1"
    yield from normed("sampling", name + "0", shape, words=words, when=f"{doubles} and {WIDE}", tower="projector")
    yield from widened("widening", name + "1", f"{width} // 2", f"{width} // 4", f"{doubles} and {WIDE}", "projector")
    yield from widened("widening", name + "0", width, f"{width} // 2", f"{doubles} and not {WIDE}", "projector")
    shape = f"{width}, {width}, 3, 3"
    yield from normed("sampling", name + "0", shape, words=words, when=f"{FACTOR} == 0.5", tower="projector")


def projector() -> Iterator[Row]:
    yield from sampled()
    each = f"backbone_config.hidden_size // ((4 if {WIDE} else 2) if {FACTOR} == 2 else 1)"
    name = SCALE + "projector_layer."
    yield from joined(
        name, "bottlenecks.{at<c2f_num_blocks}", f"{each} * {GIVEN}", ("conv", "norm"), ("conv1", "conv2")
    )
    yield linear("norm", SCALE + "layer_norm", "d_model", "projector")


def points(name: str, levels: str) -> Iterator[Row]:
    """Each head looks at so many points of each scale, and weighs them."""
    number = f"decoder_cross_attention_heads * {levels} * decoder_n_points"
    for role, word, rows in (
        ("sampling_offsets", "sampling_offsets", f"{number} * 2"),
        ("attention_weights", "attention_weights", number),
        ("cross_v_proj", "value_proj", "d_model"),
        ("cross_o_proj", "output_proj", "d_model"),
    ):
        yield linear(role, name + word, f"{rows}, d_model", "decoder", group="attention")


def decoder() -> Iterator[Row]:
    for role in ("q_proj", "k_proj", "v_proj"):
        name = f"{LAYER}self_attn.{role}"
        yield Row(role, name, f"{HEADS}, d_model", bias="attention_bias", tower="decoder")
    yield Row("o_proj", LAYER + "self_attn.o_proj", f"d_model, {HEADS}", bias="attention_bias", tower="decoder")
    yield from points(LAYER + "cross_attn.", "len(projector_scale_factors)")
    yield linear("up_proj", LAYER + "mlp.fc1", "decoder_ffn_dim, d_model", "decoder")
    yield linear("down_proj", LAYER + "mlp.fc2", "d_model, decoder_ffn_dim", "decoder")
    for role, word in {
        "post_attention_layernorm": "self_attn_layer_norm",
        "cross_layernorm": "cross_attn_layer_norm",
        "post_feedforward_layernorm": "layer_norm",
    }.items():
        yield linear(role, LAYER + word, "d_model", "decoder", group="norm")


def queries(groups: str, queries: str, decoder: str, places: str, norm: str) -> Iterator[Row]:
    """What each group of queries starts from: learned features, and the boxes that the encoder finds likeliest.

    Args:
        groups, queries, decoder: what the names of these parts begin with.
        places, norm: what the first boxes and the decoder's norm are called.
    """
    at = "{layer<group_detr}"
    yield Row("embed_places", queries + places, "num_queries * group_detr, 4")
    yield Row("embed_queries", queries + "query_feat", "num_queries * group_detr, d_model")
    yield linear("encoder_output", f"{groups}enc_output.{at}", "d_model, d_model", "encoder", group="head")
    yield linear("encoder_output_norm", f"{groups}enc_output_norm.{at}", "d_model", "encoder")
    yield linear(
        "encoder_classifier", f"{groups}enc_out_class_embed.{at}", "num_labels, d_model", "encoder", group="head"
    )
    boxes, widths = f"{groups}enc_out_bbox_embed.{at}", "d_model, d_model, 4"
    yield perceptron("encoder_bbox_predictor", boxes, widths, "3", tower="encoder")
    widths = "2 * d_model, d_model, d_model"
    yield perceptron("query_position", decoder + "ref_point_head", widths, "2", tower="decoder")
    yield linear("norm", decoder + norm, "d_model", "decoder")


def predictors(heads: str) -> Iterator[Row]:
    yield Row("classifier", "class_embed", "num_labels, d_model", bias="True", heads=heads)
    yield perceptron("bbox_predictor", "bbox_embed", "d_model, d_model, 4", "3", heads=heads)


DEFAULTS = {
    "hidden_expansion": 0.5,
    "c2f_num_blocks": 3,
    "decoder_ffn_dim": 2048,
    "decoder_n_points": 4,
    "decoder_layers": 3,
    "decoder_self_attention_heads": 8,
    "decoder_cross_attention_heads": 16,
    "num_queries": 300,
    "attention_bias": True,
    "group_detr": 13,
    "d_model": 256,
}

FAMILY = Family(
    name="lw_detr",
    types={"lw_detr": {}},
    rows=(
        Include("backbone_config", "model.backbone.backbone.", tower="vision", default_type="lw_detr_vit"),
        *projector(),
        *queries("model.", "model.", DECODER, "reference_point_embed", "layernorm"),
        *decoder(),
        *predictors(DETECTION),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        **DEFAULTS,
        "projector_scale_factors": [],
        "backbone_config": {"hidden_size": 192, "num_hidden_layers": 10, "out_indices": [2, 4, 5, 9]},
    },
)
