"""D-FINE: RT-DETR whose boxes are refined as distributions, with gates for what the decoder looks at."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import in_sequence
from inspector.architectures.data.families.hgnet_v2 import COUNTERS
from inspector.architectures.data.families.rt_detr import (
    BACKBONE,
    DECODER,
    DEFAULTS,
    DETECTION,
    FIELDS,
    SCALES,
    backbone,
    bottlenecks,
    deformable_attention,
    encoder_layers,
    encoder_projections,
    feed_forward,
    first_queries,
    layer_norms,
    linear,
    mixed,
    noisy_queries,
    perceptron,
    predictors,
    query_position,
    second_predictors,
    self_attention,
)
from inspector.architectures.table import Family, Row

#: Layers after the one that counts have a width of their own.
DECODER_LAYER = DECODER + "layers.{layer<2 * decoder_layers - last_layer - 1}."
WIDTH, INNER = "encoder_hidden_dim", "csp_width"
BLOCKS = "round(3 * depth_mult)"
BOXES = "box_width, box_width, 4 * (max_num_bins + 1)"


def elan_block(role: str, name: str) -> Iterator[Row]:
    """A block of the mixing across scales: two narrow branches, one after the other, joined with what came in."""
    yield from mixed(f"{role}_conv1", f"{name}.conv1", f"2 * {WIDTH}, 2 * {WIDTH}, 1, 1")
    for number, before in ((1, WIDTH), (2, INNER)):
        branch = f"{name}.csp_rep{number}"
        for part in (1, 2):
            yield from mixed(f"{role}_csp{number}_conv{part}", f"{branch}.conv{part}", f"{INNER}, {before}, 1, 1")
        yield from bottlenecks(f"{role}_csp{number}", branch, INNER, BLOCKS)
    for part in (2, 3):
        yield from mixed(f"{role}_conv{part}", f"{name}.conv{part}", f"{INNER}, {INNER}, 3, 3")
    yield from mixed(f"{role}_conv4", f"{name}.conv4", f"{WIDTH}, 2 * {WIDTH} + 2 * {INNER}, 1, 1")


def lateral(when: str = "") -> Iterator[Row]:
    """Between the scales: across channels, and channel by channel where the resolution is halved."""
    at = f".{{layer<{SCALES}}}"
    yield from mixed("lateral", f"lateral_convs{at}", f"{WIDTH}, {WIDTH}, 1, 1", when)
    yield from mixed("downsample1", f"downsample_convs{at}.conv1", f"{WIDTH}, {WIDTH}, 1, 1", when)
    yield from mixed("downsample2", f"downsample_convs{at}.conv2", f"{WIDTH}, 1, 3, 3", when)


def points_looked_at() -> Iterator[Row]:
    yield from deformable_attention(DECODER_LAYER)
    yield Row(
        "points_scale",
        DECODER_LAYER + "encoder_attn.num_points_scale",
        "points",
        leaf="",
        buffer=True,
        persistent=True,
        tower="decoder",
    )


def distributions() -> Iterator[Row]:
    """The first box, the steps in which boxes change, and how good a box is."""
    yield perceptron("first_bbox_predictor", DECODER + "pre_bbox_head", "d_model, d_model, 4", "3", tower="decoder")
    for word in ("reg_scale", "up"):
        yield Row(word, DECODER + word, "1", leaf="", tower="decoder", group="head")
    yield perceptron(
        "quality_predictor",
        DECODER + "lqe_layers.{layer<decoder_layers}.reg_conf",
        "4 * (top_prob_values + 1), lqe_hidden_dim, 1",
        "max(lqe_layers, 1)",
        tower="decoder",
    )


def decoder_layers() -> Iterator[Row]:
    yield from self_attention(DECODER_LAYER, "d_model", "decoder")
    yield from points_looked_at()
    yield linear("gateway", DECODER_LAYER + "gateway.gate", "2 * d_model, 2 * d_model", "decoder", group="attention")
    yield linear("gateway_norm", DECODER_LAYER + "gateway.norm", "d_model", "decoder")
    yield from feed_forward(DECODER_LAYER, "d_model", "decoder_ffn_dim", "decoder")
    yield from layer_norms(DECODER_LAYER, "d_model", "decoder")


MORE_DEFAULTS = {
    **DEFAULTS,
    "backbone_config": BACKBONE,
    "eval_idx": -1,
    "layer_scale": 1.0,
    "max_num_bins": 32,
    "depth_mult": 1.0,
    "top_prob_values": 4,
    "lqe_hidden_dim": 64,
    "lqe_layers": 2,
}
DERIVED = {
    "points": "sum(decoder_n_points) if count(decoder_n_points) > 1 else num_feature_levels * decoder_n_points",
    "last_layer": "eval_idx if eval_idx >= 0 else decoder_layers + eval_idx",
    "csp_width": "round(hidden_expansion * encoder_hidden_dim // 2)",
    "box_width": "d_model if layer <= last_layer else round(layer_scale * d_model)",
}
#: The decoder's features are projected where their width is not its own; by the width of the coarsest.
PROJECTED = "d_model != decoder_in_channels[-1]"
PROJECTION = (
    "d_model, decoder_in_channels[-1], 1 if layer < len(decoder_in_channels) else 3,"
    " 1 if layer < len(decoder_in_channels) else 3"
)
PROJECTIONS = "model.decoder_input_proj.{layer<max(num_feature_levels, len(decoder_in_channels))}"

FAMILY = Family(
    name="d_fine",
    types={"d_fine": {}},
    rows=(
        *backbone("hgnet_v2", COUNTERS),
        *encoder_projections("len(decoder_in_channels)"),
        *in_sequence("decoder_input_proj", PROJECTIONS, PROJECTION, when=PROJECTED),
        *encoder_layers(),
        *lateral(),
        *elan_block("fpn", f"fpn_blocks.{{layer<{SCALES}}}"),
        *elan_block("pan", f"pan_blocks.{{layer<{SCALES}}}"),
        noisy_queries(),
        *first_queries(),
        *decoder_layers(),
        query_position(),
        *distributions(),
        *predictors(BOXES),
        *second_predictors(BOXES),
    ),
    prefix="model.",
    head=DETECTION,
    defaults=MORE_DEFAULTS,
    derived=DERIVED,
    fields=FIELDS,
)
