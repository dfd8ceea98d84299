"""DEIMv2: D-FINE with gated feed-forwards and RMS norms, over HGNetV2's features or DINOv3's."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import normed
from inspector.architectures.data.families.d_fine import (
    BLOCKS,
    BOXES,
    DECODER_LAYER,
    DERIVED,
    INNER,
    MORE_DEFAULTS,
    PROJECTED,
    PROJECTION,
    PROJECTIONS,
    WIDTH,
    distributions,
    lateral,
    points_looked_at,
)
from inspector.architectures.data.families.hgnet_v2 import COUNTERS
from inspector.architectures.data.families.rt_detr import (
    DECODER,
    DETECTION,
    ENCODER,
    FIELDS,
    SCALES,
    WORDS,
    backbone,
    bottlenecks,
    first_queries,
    layer_norms,
    linear,
    mixed,
    noisy_queries,
    perceptron,
    predictors,
    second_predictors,
    self_attention,
)
from inspector.architectures.table import Family, Include, Row

DINO = "backbone_config.model_type == 'dinov3_vit'"
STAGED = "backbone_config.model_type != 'dinov3_vit'"
LITE, HYBRID = "encoder_type == 'lite'", "encoder_type != 'lite'"
WITHIN = ENCODER + f"aifi.{{layer<len(encode_proj_layers) if {HYBRID} else 0}}.layers.{{block<encoder_layers}}."
#: Layers that share a predictor of boxes store it once, under the name of the last.
OWN_BOXES = "not share_bbox_head or layer == decoder_layers - 1"
CONVOLUTIONS = "model.conv_encoder."


def convolved(role: str, name: str, shape: str, when: str) -> Iterator[Row]:
    yield from normed(role, name, shape, words=WORDS, when=when)


def beside_dino() -> Iterator[Row]:
    """DINOv3's features are joined with those of a few convolutions."""
    inside = "spatial_tuning_adapter_inplanes"
    adapter = CONVOLUTIONS + "spatial_tuning_adapter."
    yield from convolved("adapter_stem", adapter + "stem_conv", f"{inside}, 3, 3, 3", DINO)
    for number, (after, within) in {2: (2, 1), 3: (4, 2), 4: (4, 4)}.items():
        shape = f"{after} * {inside}, {within} * {inside}, 3, 3"
        yield from convolved(f"adapter_conv{number}", f"{adapter}conv{number}", shape, DINO)
    before = f"backbone_config.hidden_size + {inside} * (2 if layer == 0 else 4)"
    yield from convolved("fusion_proj", CONVOLUTIONS + "fusion_proj.{layer<3}", f"{WIDTH}, {before}, 1, 1", DINO)


def encoder_layers() -> Iterator[Row]:
    yield from self_attention(WITHIN, WIDTH, "encoder", "o_proj")
    inner = "encoder_ffn_dim"
    shape = f"{inner} if part == 0 else {WIDTH}, {WIDTH} if part == 0 else {inner}"
    yield linear("feed_forward", WITHIN + "mlp.layers.{part<2}", shape, "encoder")
    yield from layer_norms(WITHIN, WIDTH, "encoder")


def elan_block(role: str, name: str, when: str) -> Iterator[Row]:
    """D-FINE's block with fewer convolutions: what was two side by side is one of twice the width."""
    yield from mixed(f"{role}_conv1", f"{name}.conv1", f"2 * {WIDTH}, {WIDTH}, 1, 1", when)
    for number, before in ((1, WIDTH), (2, INNER)):
        branch, csp = f"{name}.csp_rep{number}", f"{role}_csp{number}"
        yield from mixed(f"{csp}_conv1", f"{branch}.conv1", f"2 * {INNER}, {before}, 1, 1", when)
        yield from bottlenecks(csp, branch, INNER, BLOCKS, when)
        trailing = f"{when} and encoder_has_trailing_conv"
        yield from mixed(f"{csp}_conv2", f"{branch}.conv2", f"{INNER}, {INNER}, 3, 3", trailing)
    yield from mixed(f"{role}_conv2", f"{name}.conv2", f"{WIDTH}, 2 * {WIDTH} + 2 * {INNER}, 1, 1", when)


def lite_encoder() -> Iterator[Row]:
    channels = "encoder_in_channels[layer]"
    yield from mixed("input_proj", "input_proj.{layer<len(encoder_in_channels)}", f"{WIDTH}, {channels}, 1, 1", LITE)
    for word in ("down_conv1", "down_conv2", "bi_fusion_conv"):
        yield from mixed(word, word, f"{WIDTH}, {WIDTH}, 1, 1", LITE)


def decoder_layers() -> Iterator[Row]:
    yield from self_attention(DECODER_LAYER, "d_model", "decoder", "o_proj")
    yield from points_looked_at()
    gateway = DECODER_LAYER + "gateway."
    shape = "2 * d_model, 2 * d_model"
    yield linear("gateway", gateway + "gate", shape, "decoder", when="use_gateway", group="attention")
    inner = "decoder_ffn_dim // 2"
    for role, shape in {
        "gate_proj": f"{inner}, d_model",
        "up_proj": f"{inner}, d_model",
        "down_proj": f"d_model, {inner}",
    }.items():
        yield linear(role, f"{DECODER_LAYER}mlp.{role}", shape, "decoder")
    for role, name, when in (
        ("gateway_norm", "gateway.norm", "use_gateway"),
        ("cross_layernorm", "encoder_attn_layer_norm", "not use_gateway"),
        ("post_attention_layernorm", "self_attn_layer_norm", ""),
        ("post_feedforward_layernorm", "final_layer_norm", ""),
    ):
        yield Row(role, DECODER_LAYER + name, "d_model", when=when, tower="decoder", group="norm")


FAMILY = Family(
    name="deimv2",
    types={"deimv2": {}},
    rows=(
        *backbone("hgnet_v2", COUNTERS, CONVOLUTIONS + "model.", STAGED),
        Include("backbone_config", CONVOLUTIONS + "backbone.", tower="vision", default_type="hgnet_v2", when=DINO),
        *convolved(
            "encoder_input_proj",
            CONVOLUTIONS + "encoder_input_proj.{layer<len(backbone_config.channels)}",
            f"{WIDTH}, backbone_config.channels[layer], 1, 1",
            f"{STAGED} and {HYBRID}",
        ),
        *beside_dino(),
        *convolved("decoder_input_proj", PROJECTIONS, PROJECTION, PROJECTED),
        *encoder_layers(),
        *lateral(HYBRID),
        *elan_block("fpn", f"fpn_blocks.{{layer<{SCALES}}}", HYBRID),
        *elan_block("pan", f"pan_blocks.{{layer<{SCALES}}}", HYBRID),
        *lite_encoder(),
        *elan_block("lite_fpn", "fpn_block", LITE),
        *elan_block("lite_pan", "pan_block", LITE),
        noisy_queries(),
        *first_queries(),
        *decoder_layers(),
        perceptron("query_position", DECODER + "query_pos_head", "4, d_model, d_model", "3", tower="decoder"),
        *distributions(),
        *predictors(BOXES, boxes=OWN_BOXES),
        *second_predictors(BOXES, boxes=OWN_BOXES),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        **MORE_DEFAULTS,
        "spatial_tuning_adapter_inplanes": 16,
        "encoder_type": "hybrid",
        "use_gateway": True,
        "share_bbox_head": False,
        "encoder_has_trailing_conv": True,
    },
    derived={**DERIVED, "box_width": f"d_model if share_bbox_head else {DERIVED['box_width']}"},
    fields=FIELDS,
)
