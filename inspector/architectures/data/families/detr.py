"""DETR, Conditional DETR and the table transformer: an encoder and a decoder over a backbone's last features."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.timm_backbone import COUNTERS
from inspector.architectures.table import Family, Include, Row

BACKBONE = "model.backbone.conv_encoder.model."
ENCODER = "model.encoder.layers.{layer<encoder_layers}."
DECODER = "model.decoder.layers.{layer<decoder_layers}."
DETECTION = "ForObjectDetection"
SEGMENTATION = "ForSegmentation"
PLAIN = "model_type != 'conditional_detr'"
CONDITIONAL = "is_conditional"
SQUARE = "d_model, d_model"


def linear(role: str, name: str, shape: str, tower: str, when: str = "", group: str = "") -> Row:
    return Row(role, name, shape, bias="True", when=when, tower=tower, group=group)


def attention(prefix: str, name: str, tower: str, before: str = "", when: str = "") -> Iterator[Row]:
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        condition = "" if role == "o_proj" else when
        yield linear(before + role, f"{prefix}{name}.{word}", SQUARE, tower, condition, "attention" if before else "")


def feed_forward(prefix: str, width: str, tower: str) -> Iterator[Row]:
    yield linear("up_proj", prefix + "fc1", f"{width}, d_model", tower)
    yield linear("down_proj", prefix + "fc2", f"d_model, {width}", tower)
    yield linear("post_feedforward_layernorm", prefix + "final_layer_norm", "d_model", tower)


def conditional(name: str, when: str = CONDITIONAL) -> Row:
    """A projection of Conditional DETR, which has those of content and place apart."""
    return linear(name, DECODER + name, SQUARE, "decoder", when, "attention")


def predictor(heads: str, prefix: str = "") -> Iterator[Row]:
    """What finds boxes and classes: a perceptron of three layers, and one layer."""
    classes = "num_labels if is_conditional else num_labels + 1"
    yield Row("classifier", prefix + "class_labels_classifier", f"{classes}, d_model", bias="True", heads=heads)
    box = prefix + "bbox_predictor.layers.{layer<3}"
    yield Row("bbox_predictor", box, "4 if layer == 2 else d_model, d_model", bias="True", heads=heads, group="head")


def mask(role: str, shape: str, name: str = "") -> Row:
    return Row(role, f"mask_head.{name or role}", shape, bias="True", heads=SEGMENTATION, group="head")


def mask_head() -> Iterator[Row]:
    """Convolutions that halve the width, each with a group norm and, from the third on, a backbone's features."""
    first = "d_model + encoder_attention_heads"
    widths = [first, "d_model // 2", "d_model // 4", "d_model // 8", "d_model // 16"]
    for at, width in enumerate(widths):
        yield mask(f"mask_conv{at + 1}", f"{width}, {widths[max(at - 1, 0)]}, 3, 3", f"lay{at + 1}")
        yield mask(f"mask_norm{at + 1}", width, f"gn{at + 1}")
    for at in (1, 2, 3):
        yield mask(f"mask_adapter{at}", f"d_model // {2**at}, backbone_width // {2**at}, 1, 1", f"adapter{at}")
    yield mask("mask_output", "1, d_model // 16, 3, 3", "out_lay")
    for word in ("q_linear", "k_linear"):
        yield Row(word, f"bbox_attention.{word}", SQUARE, bias="True", heads=SEGMENTATION, group="head")


def position(word: str) -> Iterator[Row]:
    """Learned places, by column and row; only the table transformer has them within the backbone."""
    table = "is_table"
    for prefix, when in (("model.", f"not {table}"), ("model.backbone.", table)):
        name = f"{prefix}position_embedding.{word}"
        yield Row(
            word, name, "50, d_model // 2", when=f"position_embedding_type == 'learned' and {when}", group="embedding"
        )


FAMILY = Family(
    name="detr",
    types={
        "detr": {"num_queries": 100},
        "table-transformer": {"num_queries": 100, "is_table": True},
        "conditional_detr": {"num_queries": 300, "is_conditional": True},
    },
    rows=(
        Include(
            "backbone_config",
            BACKBONE,
            "timm_model.",
            "vision",
            default_type="timm_backbone",
            without=COUNTERS,
        ),
        *position("row_embeddings"),
        *position("column_embeddings"),
        linear(
            "input_projection", "model.input_projection", "d_model, backbone_width, 1, 1", "text", group="convolution"
        ),
        Row("query_position_embeddings", "model.query_position_embeddings", "num_queries, d_model", group="embedding"),
        *attention(ENCODER, "self_attn", "encoder"),
        linear("post_attention_layernorm", ENCODER + "self_attn_layer_norm", "d_model", "encoder"),
        *feed_forward(ENCODER, "encoder_ffn_dim", "encoder"),
        linear("norm", "model.encoder.layernorm", "d_model", "encoder", "is_table"),
        *attention(DECODER, "self_attn", "decoder", when=PLAIN),
        *(conditional(f"sa_{word}_proj") for word in ("qcontent", "qpos", "kcontent", "kpos", "v")),
        linear("post_attention_layernorm", DECODER + "self_attn_layer_norm", "d_model", "decoder"),
        *attention(DECODER, "encoder_attn", "decoder", "cross_", PLAIN),
        *(conditional(f"ca_{word}_proj") for word in ("qcontent", "kcontent", "kpos", "v", "qpos_sine")),
        conditional("ca_qpos_proj", f"{CONDITIONAL} and layer == 0"),
        linear("cross_layernorm", DECODER + "encoder_attn_layer_norm", "d_model", "decoder", group="norm"),
        *feed_forward(DECODER, "decoder_ffn_dim", "decoder"),
        linear("norm", "model.decoder.layernorm", "d_model", "decoder"),
        linear(
            "query_scale", "model.decoder.query_scale.layers.{layer<2}", SQUARE, "decoder", CONDITIONAL, "attention"
        ),
        linear(
            "ref_point_head",
            "model.decoder.ref_point_head.layers.{layer<2}",
            "2 if layer == 1 else d_model, d_model",
            "decoder",
            CONDITIONAL,
            "head",
        ),
        *predictor(DETECTION),
        *predictor(SEGMENTATION, "detr."),
        *mask_head(),
    ),
    prefix="model.",
    prefixes={SEGMENTATION: "detr.model."},
    head=DETECTION,
    defaults={
        "is_conditional": False,
        "is_table": False,
        "d_model": 256,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "encoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "position_embedding_type": "sine",
        "backbone": "resnet50",
        "backbone_config": {},
    },
    # The channels of the last stage of a residual network: four times as many where its blocks narrow and widen.
    derived={
        "backbone_name": "backbone_config.backbone or backbone",
        "backbone_width": "backbone_config.hidden_sizes[-1] if backbone_config.hidden_sizes"
        " else 512 if backbone_name in ['resnet18', 'resnet34'] else 2048",
    },
    fields={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
)
