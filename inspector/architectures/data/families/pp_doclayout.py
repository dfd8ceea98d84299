"""PP-DocLayout: RT-DETR for the parts of a page, and the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import normed
from inspector.architectures.data.families.hgnet_v2 import COUNTERS
from inspector.architectures.data.families.rt_detr import (
    DECODER,
    DEFAULTS,
    DETECTION,
    FIELDS,
    across_scales,
    backbone,
    decoder_layers,
    decoder_projections,
    encoder_layers,
    encoder_projections,
    first_queries,
    linear,
    noisy_queries,
    perceptron,
    predictors,
    query_position,
)
from inspector.architectures.table import Family, Row

V2, V3, V4 = (f"release == {release}" for release in (2, 3, 4))
ORDER = "reading_order_config."
READER = "reading_order."
READER_LAYER = READER + "encoder.layer.{layer<" + ORDER + "num_hidden_layers}."
WIDTH = ORDER + "hidden_size"


def read(role: str, name: str, shape: str, *, bias: str = "True", when: str = V2, group: str = "") -> Row:
    """A row of the second version's model of the reading order."""
    return Row(role, name, shape, bias=bias, when=when, heads=DETECTION, tower="reading_order", group=group)


def reading_order() -> Iterator[Row]:
    """Version 2: a text encoder over the parts' places and classes."""
    square, inner = f"{WIDTH}, {WIDTH}", ORDER + "intermediate_size"
    embeddings = {
        "embed_tokens": ("word_embeddings", f"{ORDER}vocab_size, {WIDTH}"),
        "embed_token_types": ("token_type_embeddings", f"{ORDER}type_vocab_size, {WIDTH}"),
        "embed_positions": ("position_embeddings", f"{ORDER}max_position_embeddings, {WIDTH}"),
    }
    for axis, size in {"x": "coordinate_size", "y": "coordinate_size", "h": "shape_size", "w": "shape_size"}.items():
        shape = f"{ORDER}max_2d_position_embeddings, {ORDER}{size}"
        embeddings[f"embed_{axis}_positions"] = (f"{axis}_position_embeddings", shape)
    for role, (word, shape) in embeddings.items():
        yield read(role, f"{READER}embeddings.{word}", shape, bias="")
    yield read("embed_norm", READER + "embeddings.norm", WIDTH)
    places = f"4 * {ORDER}coordinate_size + 2 * {ORDER}shape_size"
    yield read("embed_projection", READER + "embeddings.spatial_proj", f"{WIDTH}, {places}")
    yield read("embed_labels", READER + "label_embeddings", f"{ORDER}num_classes, {WIDTH}", bias="")
    yield read("label_projection", READER + "label_features_projection", square, group="embedding")
    for role, word in {"q_proj": "query", "k_proj": "key", "v_proj": "value"}.items():
        yield read(role, f"{READER_LAYER}attention.self.{word}", square)
    yield read("o_proj", READER_LAYER + "attention.output.dense", square)
    yield read("post_attention_layernorm", READER_LAYER + "attention.output.norm", WIDTH)
    yield read("up_proj", READER_LAYER + "intermediate.dense", f"{inner}, {WIDTH}")
    yield read("down_proj", READER_LAYER + "output.dense", f"{WIDTH}, {inner}")
    yield read("post_feedforward_layernorm", READER_LAYER + "output.norm", WIDTH)
    yield from relative_places()
    yield read("pointer", READER + "relative_head.dense", f"2 * {ORDER}global_pointer_head_size, {WIDTH}", group="head")


def relative_places() -> Iterator[Row]:
    """What attention adds for how the parts lie to each other."""
    heads = ORDER + "num_attention_heads"
    for word, bins, flag in (
        ("rel_pos_bias", "rel_pos_bins", "has_relative_attention_bias"),
        ("rel_pos_x_bias", "rel_2d_pos_bins", "has_spatial_attention_bias"),
        ("rel_pos_y_bias", "rel_2d_pos_bins", "has_spatial_attention_bias"),
    ):
        when = f"{V2} and {ORDER}{flag}"
        yield read(word, f"{READER}encoder.{word}", f"{heads}, {ORDER}{bins}", bias="", when=when, group="attention")
    shape = f"{heads}, 4 * {ORDER}relation_bias_embed_dim, 1, 1"
    yield read("relation_bias", READER + "encoder.rel_bias_module.pos_proj", shape, group="attention")


def masks() -> Iterator[Row]:
    """Version 3: features of all scales brought to the finest, prototypes of masks, and what mixes them."""
    inner, outer = "mask_feature_channels[0]", "mask_feature_channels[1]"
    name = "model.encoder."
    # A head has one convolution for each time that its features are doubled, with the doubling between, or just one.
    scale = name + "mask_feature_head.scale_heads.{layer<len(feat_strides)}.layers.{part<2 * max(1, doublings) - 1}"
    before = f"encoder_hidden_dim if part == 0 else {inner}"
    when = f"{V3} and part % 2 == 0"
    yield from normed("scale_convolution", scale, f"{inner}, {before}, 3, 3", when=when, tower="encoder")
    for role, word, shape in (
        ("mask_convolution", "mask_feature_head.output_conv", f"{outer}, {inner}, 3, 3"),
        ("mask_lateral", "encoder_mask_lateral", f"{outer}, x4_feat_dim, 3, 3"),
        ("mask_base", "encoder_mask_output.base_conv", f"{outer}, {outer}, 3, 3"),
    ):
        yield from normed(role, name + word, shape, when=V3, tower="encoder")
    yield Row(
        "mask_prototypes",
        name + "encoder_mask_output.conv",
        f"num_prototypes, {outer}, 1, 1",
        bias="True",
        when=V3,
        tower="encoder",
        group="convolution",
    )
    yield perceptron("mask_queries", "model.mask_query_head", "d_model, d_model, num_prototypes", "3", when=V3)


def order_heads() -> Iterator[Row]:
    """Version 3 points from each part to those after it; version 4 to the next one, and to all others."""
    at = "{layer<decoder_layers}"
    for prefix, when in (("", f"{V3} or {V4}"), ("roor_", V4)):
        head = f"model.decoder_{prefix}order_head.{at}"
        yield linear(prefix + "order_head", head, "d_model, d_model", "decoder", when=when, group="head")
        pointer = f"model.decoder_{prefix}global_pointer."
        for word in ("q_proj", "k_proj"):
            shape = "global_pointer_head_size, d_model"
            yield linear(f"{prefix}pointer_{word}", pointer + word, shape, "decoder", when=V4, group="head")
    shape = "2 * global_pointer_head_size, d_model"
    yield linear("pointer", "model.decoder_global_pointer.dense", shape, "decoder", when=V3, group="head")
    yield linear("norm", "model.decoder_norm", "d_model", "decoder", when=V3)
    yield Row("closure_weight", "model.s2r_fusion.a", "1", when=V4, leaf="", tower="decoder", group="head")


def tied_predictors() -> Iterator[Row]:
    """Version 3 has one predictor for all layers: the encoder's."""
    tied = "tie_word_embeddings"
    yield Row(
        "classifier", DECODER + "class_embed", "num_labels, d_model", bias="True", tied=tied, when=V3, tower="decoder"
    )
    widths = "d_model, d_model, 4"
    yield perceptron("bbox_predictor", DECODER + "bbox_embed", widths, "3", tied=tied, when=V3, tower="decoder")


FIRST_STAGE = {"out_features": ["stage1", "stage2", "stage3", "stage4"]}
STAGES = {"out_features": ["stage2", "stage3", "stage4"]}
READING_ORDER = {
    "hidden_size": 512,
    "num_attention_heads": 8,
    "has_relative_attention_bias": False,
    "has_spatial_attention_bias": True,
    "intermediate_size": 2048,
    "num_hidden_layers": 6,
    "rel_pos_bins": 32,
    "rel_2d_pos_bins": 64,
    "max_position_embeddings": 514,
    "max_2d_position_embeddings": 1024,
    "type_vocab_size": 1,
    "vocab_size": 4,
    "coordinate_size": 171,
    "shape_size": 170,
    "num_classes": 20,
    "relation_bias_embed_dim": 16,
    "global_pointer_head_size": 64,
}

FAMILY = Family(
    name="pp_doclayout",
    types={
        "pp_doclayout_v2": {"release": 2, "num_coords": 4, "unused_scales": 0},
        # The finest scale is for the masks alone.
        "pp_doclayout_v3": {"release": 3, "num_coords": 4, "unused_scales": 1, "backbone_config": FIRST_STAGE},
        "pp_doclayout_v4": {"release": 4, "unused_scales": 0},
    },
    rows=(
        *backbone("hgnet_v2", COUNTERS),
        *encoder_projections("len(backbone_config.channels) - unused_scales", "layer + unused_scales"),
        *decoder_projections(),
        *encoder_layers(),
        *across_scales(),
        noisy_queries("num_labels", when=V2),
        noisy_queries("num_labels + 1", when=f"{V3} and num_denoising > 0", heads="Model"),
        noisy_queries("num_labels", when=V3, heads=DETECTION),
        noisy_queries("num_labels", when=f"{V4} and num_denoising > 0"),
        *first_queries("num_coords"),
        *decoder_layers(),
        query_position("num_coords"),
        *predictors(when=V2),
        *tied_predictors(),
        *predictors("d_model, d_model, num_coords", heads="", when=V4),
        *masks(),
        *order_heads(),
        *reading_order(),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        **DEFAULTS,
        "backbone_config": STAGES,
        "reading_order_config": READING_ORDER,
        "feat_strides": [8, 16, 32],
        "mask_feature_channels": [64, 64],
        "x4_feat_dim": 128,
        "num_prototypes": 32,
        "global_pointer_head_size": 64,
        "num_coords": 10,
    },
    derived={
        "points": "num_feature_levels * decoder_n_points",
        "doublings": "sum([1 if feat_strides[layer] >= feat_strides[0] * 2 ** (time + 1) else 0 for time in range(16)])",
    },
    fields=FIELDS,
)
