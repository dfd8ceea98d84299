"""RF-DETR: LW-DETR over DINOv2, and masks of what it finds; its checkpoints keep the names of the original."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.lw_detr import DEFAULTS, HEADS, joined, points, predictors, queries
from inspector.architectures.data.families.rt_detr import DETECTION, linear
from inspector.architectures.table import Family, Include, Row

DECODER = "transformer.decoder."
LAYER = DECODER + "layers.{layer<decoder_layers}."
PROJECTOR = "backbone.0.projector.stages.0."
MASKS = "segmentation_head."
SEGMENTATION = "ForInstanceSegmentation"


def decoder() -> Iterator[Row]:
    attention = LAYER + "self_attn"
    for role, name, shape, leaf in (
        ("qkv_proj", attention, f"3 * {HEADS}, d_model", "in_proj_weight"),
        ("o_proj", attention + ".out_proj", f"d_model, {HEADS}", "weight"),
    ):
        yield Row(role, name, shape, bias="attention_bias", leaf=leaf, tower="decoder")
    yield from points(LAYER + "cross_attn.", "num_feature_levels")
    yield linear("up_proj", LAYER + "linear1", "decoder_ffn_dim, d_model", "decoder")
    yield linear("down_proj", LAYER + "linear2", "d_model, decoder_ffn_dim", "decoder")
    for number, place in enumerate(("post_attention", "cross", "post_feedforward"), 1):
        yield linear(f"{place}_layernorm", f"{LAYER}norm{number}", "d_model", "decoder", group="norm")


def mask(role: str, name: str, shape: str, group: str = "head") -> Row:
    return Row(role, MASKS + name, shape, bias="True", heads=SEGMENTATION, group=group)


def masks() -> Iterator[Row]:
    """A block a layer of the decoder over the picture's features, and one over the queries; their products are masks."""
    block = "blocks.{layer<decoder_layers}."
    yield mask("mask_depthwise", block + "dwconv", "d_model, 1, 3, 3")
    yield mask("mask_norm", block + "norm", "d_model", "norm")
    yield mask("mask_pointwise", block + "pwconv1", "d_model, d_model")
    yield mask("mask_feature_projection", "spatial_features_proj", "d_model, d_model, 1, 1")
    yield mask("mask_query_norm", "query_features_block.norm_in", "d_model", "norm")
    for part, shape in {0: "intermediate_size, d_model", 2: "d_model, intermediate_size"}.items():
        yield mask("mask_query_feed_forward", f"query_features_block.layers.{part}", shape)
    yield mask("mask_query_projection", "query_features_proj", "d_model, d_model")
    yield Row("mask_bias", MASKS.removesuffix("."), "1", heads=SEGMENTATION, leaf="bias", group="head")


FAMILY = Family(
    name="rf_detr",
    types={"rf_detr": {}},
    rows=(
        Include(
            "backbone_config",
            "backbone.0.encoder.encoder.",
            tower="vision",
            strip="dinov2.",
            default_type="rf_detr_dinov2",
        ),
        *joined(
            PROJECTOR + "0.",
            "m.{at<c2f_num_blocks}",
            "backbone_config.hidden_size * len(backbone_config.out_indices)",
            ("conv", "bn"),
            ("cv1", "cv2"),
            statistics=False,
        ),
        linear("norm", PROJECTOR + "1", "d_model", "projector"),
        *queries("transformer.", "", DECODER, "refpoint_embed", "norm"),
        *decoder(),
        *predictors(f"{DETECTION} {SEGMENTATION}"),
        *masks(),
    ),
    head=DETECTION,
    defaults={
        **DEFAULTS,
        "num_feature_levels": 1,
        "intermediate_size": 1024,
        "backbone_config": {
            "hidden_size": 384,
            "num_attention_heads": 6,
            "image_size": 518,
            "out_indices": [2, 5, 8, 11],
        },
    },
)
