"""Deformable DETR: attention that looks at a few places of several of a backbone's features."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.detr import BACKBONE, attention, feed_forward, linear
from inspector.architectures.data.families.timm_backbone import COUNTERS
from inspector.architectures.table import Family, Include, Row

ENCODER = "model.encoder.layers.{layer<encoder_layers}."
DECODER = "model.decoder.layers.{layer<decoder_layers}."
DETECTION = "ForObjectDetection"
SQUARE = "d_model, d_model"
TIED = "tie_word_embeddings"
#: Roles that a backbone leaves out whose norms are frozen: what they count their batches in.
FROZEN = f"{COUNTERS} num_batches_tracked"


def sampling(at: str, tower: str, heads: str, points: str, before: str = "") -> Iterator[Row]:
    """Attention at so many points of every level: two numbers for where each is, one for how much it counts."""
    looks = f"{heads} * num_feature_levels * {points}"

    def row(role: str, name: str, shape: str) -> Row:
        return linear(before + role, f"{at}.{name}", shape, tower, group="attention")

    yield row("sampling_offsets", "sampling_offsets", f"2 * {looks}, d_model")
    yield row("attention_weights", "attention_weights", f"{looks}, d_model")
    yield row("v_proj", "value_proj", SQUARE)
    yield row("o_proj", "output_proj", SQUARE)


def pyramid() -> Iterator[Row]:
    """The backbone's features at one width, and further levels that each halve the one before."""
    level = "model.input_proj.{layer<levels}."
    before = "features[min(layer, len(features) - 1)] if levels > 1 else features[-1]"
    inside = f"({before}) if layer <= len(features) else d_model"
    kernel = "1 if layer < len(features) else 3"
    yield linear("input_projection", level + "0", f"d_model, {inside}, {kernel}, {kernel}", "text", group="convolution")
    yield linear("input_projection", level + "1", "d_model", "text", group="norm")
    yield Row("level_embed", "model.level_embed", "num_feature_levels, d_model", leaf="", group="embedding")


def predictors() -> Iterator[Row]:
    """Boxes and classes after each layer, and those of the proposals: all one, or refined from layer to layer."""
    box, kind = "bbox_embed.{layer<predictions}.layers.{at<3}", "class_embed.{layer<predictions}"
    size = "4 if at == 2 else d_model, d_model"

    def row(role: str, name: str, shape: str, when: str, tied: str = "", tower: str = "text") -> Row:
        return Row(role, name, shape, bias="True", when=when, heads=DETECTION, tied=tied, tower=tower, group="head")

    for when, also in (("layer == 0", True), ("layer > 0", False)):
        yield row("bbox_predictor", box, size, when, f"{TIED} and with_box_refine" if also else TIED)
        yield row("classifier", kind, "num_labels, d_model", when, f"{TIED} and two_stage" if also else TIED)
    yield row("bbox_predictor", f"model.decoder.{box}", size, "with_box_refine", tower="decoder")
    yield row("classifier", f"model.decoder.{kind}", "num_labels, d_model", "two_stage", tower="decoder")


def queries() -> Iterator[Row]:
    """What the decoder begins with: learned, or proposals of the encoder."""
    learned, proposed = "not two_stage", "two_stage"
    yield Row(
        "query_position_embeddings",
        "model.query_position_embeddings",
        "num_queries, 2 * d_model",
        when=learned,
        group="embedding",
    )
    yield linear("reference_points", "model.reference_points", "2, d_model", "text", learned, "head")
    yield linear("enc_output", "model.enc_output", SQUARE, "text", proposed, "head")
    yield linear("enc_output_norm", "model.enc_output_norm", "d_model", "text", proposed)
    yield linear("pos_trans", "model.pos_trans", "2 * d_model, 2 * d_model", "text", proposed, "embedding")
    yield linear("pos_trans_norm", "model.pos_trans_norm", "2 * d_model", "text", proposed)


def positions() -> Iterator[Row]:
    """Learned places, by column and row."""
    for word in ("row_embeddings", "column_embeddings"):
        name = f"model.position_embedding.{word}"
        yield Row(word, name, "50, d_model // 2", when="position_embedding_type == 'learned'", group="embedding")


FAMILY = Family(
    name="deformable_detr",
    types={"deformable_detr": {}},
    rows=(
        Include(
            "backbone_config",
            BACKBONE,
            "timm_model.",
            "vision",
            head="Model",
            default_type="timm_backbone",
            without=FROZEN,
        ),
        *positions(),
        *pyramid(),
        *queries(),
        *sampling(ENCODER + "self_attn", "encoder", "encoder_attention_heads", "encoder_n_points"),
        linear("post_attention_layernorm", ENCODER + "self_attn_layer_norm", "d_model", "encoder"),
        *feed_forward(ENCODER, "encoder_ffn_dim", "encoder"),
        *attention(DECODER, "self_attn", "decoder"),
        linear("post_attention_layernorm", DECODER + "self_attn_layer_norm", "d_model", "decoder"),
        *sampling(DECODER + "encoder_attn", "decoder", "decoder_attention_heads", "decoder_n_points", "cross_"),
        linear("cross_layernorm", DECODER + "encoder_attn_layer_norm", "d_model", "decoder", group="norm"),
        *feed_forward(DECODER, "decoder_ffn_dim", "decoder"),
        *predictors(),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        "backbone": "resnet50",
        "backbone_config": {},
        "d_model": 256,
        "decoder_attention_heads": 8,
        "decoder_ffn_dim": 1024,
        "decoder_layers": 6,
        "decoder_n_points": 4,
        "encoder_attention_heads": 8,
        "encoder_ffn_dim": 1024,
        "encoder_layers": 6,
        "encoder_n_points": 4,
        "num_feature_levels": 4,
        "num_queries": 300,
        "position_embedding_type": "sine",
        "two_stage": False,
        "with_box_refine": False,
    },
    derived={
        "backbone_name": "backbone_config.backbone or backbone",
        "stages": "backbone_config.out_indices or ([2, 3, 4] if num_feature_levels > 1 else [4])",
        "features": "[backbone_config.hidden_sizes[stages[at] - 1] if backbone_config.hidden_sizes"
        " else 2 ** (stages[at] - 1) * (64 if backbone_name in ['resnet18', 'resnet34'] else 256)"
        " for at in range(len(stages))]",
        "levels": "max(num_feature_levels, len(features)) if num_feature_levels > 1 else 1",
        "predictions": "decoder_layers + 1 if two_stage else decoder_layers",
    },
    fields={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
)
