"""DAB-DETR: queries are boxes, which each layer of the decoder moves."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.deformable_detr import FROZEN
from inspector.architectures.data.families.detr import BACKBONE, DECODER, DETECTION, ENCODER, linear
from inspector.architectures.table import Family, Include, Row

SQUARE = "hidden_size, hidden_size"
PRELU = "activation_function == 'prelu'"
OLD_TIMM = "backbone_config.model_type in (None, 'timm_backbone')"


def perceptron(role: str, name: str, before: str, after: str, tower: str) -> Row:
    """Two layers, as wide as the model between them."""
    shape = f"{after} if layer == 1 else hidden_size, {before} if layer == 0 else hidden_size"
    return linear(role, f"model.{tower}.{name}.layers.{{layer<2}}", shape, tower, group="head")


def feed_forward(at: str, width: str, tower: str) -> Iterator[Row]:
    """Two layers and a norm; the activation may have a slope of its own."""
    yield linear("up_proj", at + "fc1", f"{width}, hidden_size", tower)
    yield linear("down_proj", at + "fc2", f"hidden_size, {width}", tower)
    yield Row("slope", at + "activation_fn", "1", when=PRELU, tower=tower, group="feed_forward")
    yield linear("post_feedforward_layernorm", at + "final_layer_norm", "hidden_size", tower)


def encoder() -> Iterator[Row]:
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield linear(role, f"{ENCODER}self_attn.{word}", SQUARE, "encoder")
    yield linear("post_attention_layernorm", ENCODER + "self_attn_layer_norm", "hidden_size", "encoder")
    yield from feed_forward(ENCODER, "encoder_ffn_dim", "encoder")
    yield perceptron("query_scale", "query_scale", "hidden_size", "hidden_size", "encoder")
    yield linear("norm", "model.encoder.norm", "hidden_size", "encoder", "normalize_before")


def decoder_attention(name: str, before: str, words: str) -> Iterator[Row]:
    """Attention with projections of content and place apart."""
    at = f"{DECODER}{name}.{name}_"
    for word in words.split():
        first = "keep_query_pos or layer == 0" if (name, word) == ("cross_attn", "query_pos") else ""
        yield linear(f"{name}_{word}", f"{at}{word}_proj", SQUARE, "decoder", first, "attention")
    yield linear(f"{before}o_proj", f"{DECODER}{name}.{name}.output_proj", SQUARE, "decoder", group="attention")
    yield linear(f"{before}layernorm", f"{at}layer_norm", "hidden_size", "decoder", group="norm")


def decoder() -> Iterator[Row]:
    yield from decoder_attention("self_attn", "", "query_content query_pos key_content key_pos value")
    yield from decoder_attention(
        "cross_attn", "cross_", "query_content query_pos key_content key_pos value query_pos_sine"
    )
    yield from feed_forward(DECODER + "mlp.", "decoder_ffn_dim", "decoder")
    yield linear("norm", "model.decoder.layernorm", "hidden_size", "decoder")
    yield perceptron("query_scale", "query_scale", "hidden_size", "hidden_size", "decoder")
    yield perceptron("ref_point_head", "ref_point_head", "query_dim // 2 * hidden_size", "hidden_size", "decoder")
    yield perceptron("ref_anchor_head", "ref_anchor_head", "hidden_size", "2", "decoder")


def backbone(within: str, when: str) -> Include:
    """The backbone; one of timm is a module within its wrapper."""
    return Include(
        "backbone_config",
        BACKBONE + within,
        "timm_model.",
        "vision",
        head="Model",
        default_type="timm_backbone",
        without=FROZEN,
        when=when,
    )


def box(name: str, tied: str, tower: str = "text") -> Row:
    """Three layers from a query to its box."""
    shape = "4 if layer == 2 else hidden_size, hidden_size"
    return Row(
        "bbox_predictor",
        name + ".layers.{layer<3}",
        shape,
        bias="True",
        heads=DETECTION,
        tied=tied,
        tower=tower,
        group="head",
    )


FAMILY = Family(
    name="dab-detr",
    types={"dab-detr": {}},
    rows=(
        backbone("_backbone.", OLD_TIMM),
        backbone("", f"not ({OLD_TIMM})"),
        Row(
            "query_refpoint_embeddings", "model.query_refpoint_embeddings", "num_queries, query_dim", group="embedding"
        ),
        Row("patterns", "model.patterns", "num_patterns, hidden_size", when="num_patterns > 0", group="embedding"),
        linear(
            "input_projection",
            "model.input_projection",
            "hidden_size, backbone_width, 1, 1",
            "text",
            group="convolution",
        ),
        *encoder(),
        *decoder(),
        Row("classifier", "class_embed", "num_labels, hidden_size", bias="True", heads=DETECTION),
        box("bbox_predictor", ""),
        box("model.decoder.bbox_embed", "tie_word_embeddings", "decoder"),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        "activation_function": "prelu",
        "backbone": "resnet50",
        "backbone_config": {},
        "decoder_ffn_dim": 2048,
        "decoder_layers": 6,
        "encoder_ffn_dim": 2048,
        "encoder_layers": 6,
        "hidden_size": 256,
        "keep_query_pos": False,
        "normalize_before": False,
        "num_patterns": 0,
        "num_queries": 300,
        "query_dim": 4,
    },
    derived={
        "backbone_name": "backbone_config.backbone or backbone",
        "backbone_width": "backbone_config.hidden_sizes[-1] if backbone_config.hidden_sizes"
        " else 512 if backbone_name in ['resnet18', 'resnet34'] else 2048",
    },
)
