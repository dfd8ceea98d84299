"""RT-DETR and its second version: a backbone's features mixed across scales, and queries that look at points of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.architectures.data.families.convolutions import in_sequence, normed
from inspector.architectures.data.families.rt_detr_resnet import COUNTERS
from inspector.architectures.table import Family, Include, Row

DETECTION = "ForObjectDetection"
ENCODER = "model.encoder."
DECODER = "model.decoder."
#: The layers that attend within the features of one scale; old names have `encoder` where new ones have `aifi`.
WITHIN = ENCODER + "encoder.{layer<len(encode_proj_layers)}.layers.{block<encoder_layers}."
DECODER_LAYER = DECODER + "layers.{layer<decoder_layers}."
SCALES = "len(encoder_in_channels) - 1"
WORDS = ("conv", "norm")


def backbone(
    default_type: str, counters: str, name: str = "model.backbone.model.", when: str = ""
) -> Iterator[Include]:
    """The backbone, with its norms frozen or not: frozen ones count no batches."""
    for condition, without in (("freeze_backbone_batch_norms", counters), ("not freeze_backbone_batch_norms", "")):
        yield Include(
            "backbone_config",
            name,
            tower="vision",
            default_type=default_type,
            without=without,
            when=" and ".join(filter(None, (condition, when))),
        )


def linear(role: str, name: str, shape: str, tower: str, *, when: str = "", group: str = "") -> Row:
    return Row(role, name, shape, bias="True", when=when, tower=tower, group=group)


def perceptron(
    role: str,
    name: str,
    widths: str,
    layers: str,
    *,
    tower: str = "text",
    heads: str = "",
    tied: str = "",
    when: str = "",
) -> Row:
    """Linear layers in a row: of so many layers, and the widths before, within and after it."""
    before, inside, after = (width.strip() for width in widths.split(","))
    return Row(
        role,
        f"{name}.layers.{{part<{layers}}}",
        f"{after} if part == {layers} - 1 else {inside}, {before} if part == 0 else {inside}",
        bias="True",
        heads=heads,
        tower=tower,
        tied=tied,
        when=when,
        group="head",
    )


def self_attention(prefix: str, width: str, tower: str, output: str = "out_proj") -> Iterator[Row]:
    for role, word in {"q_proj": "q_proj", "k_proj": "k_proj", "v_proj": "v_proj", "o_proj": output}.items():
        yield linear(role, f"{prefix}self_attn.{word}", f"{width}, {width}", tower)


def feed_forward(prefix: str, width: str, inner: str, tower: str) -> Iterator[Row]:
    yield linear("up_proj", prefix + "fc1", f"{inner}, {width}", tower)
    yield linear("down_proj", prefix + "fc2", f"{width}, {inner}", tower)


def layer_norms(prefix: str, width: str, tower: str) -> Iterator[Row]:
    yield linear("post_attention_layernorm", prefix + "self_attn_layer_norm", width, tower)
    yield linear("post_feedforward_layernorm", prefix + "final_layer_norm", width, tower)


def encoder_layers() -> Iterator[Row]:
    yield from self_attention(WITHIN, "encoder_hidden_dim", "encoder")
    yield from feed_forward(WITHIN, "encoder_hidden_dim", "encoder_ffn_dim", "encoder")
    yield from layer_norms(WITHIN, "encoder_hidden_dim", "encoder")


def mixed(role: str, name: str, shape: str, when: str = "") -> Iterator[Row]:
    """A convolution of the encoder, with its norm."""
    yield from normed(role, ENCODER + name, shape, words=WORDS, when=when, tower="encoder")


def bottlenecks(role: str, name: str, width: str, number: str, when: str = "") -> Iterator[Row]:
    """Blocks of two convolutions side by side, which become one when the model is put to use."""
    name = f"{name}.bottlenecks.{{block<{number}}}."
    yield from mixed(role + "_bottleneck1", name + "conv1", f"{width}, {width}, 3, 3", when)
    yield from mixed(role + "_bottleneck2", name + "conv2", f"{width}, {width}, 1, 1", when)


def across_scales() -> Iterator[Row]:
    """From the coarse features to the fine, and back."""
    width, inner = "encoder_hidden_dim", "scaled(encoder_hidden_dim, hidden_expansion)"
    at = f".{{layer<{SCALES}}}"
    yield from mixed("lateral", f"lateral_convs{at}", f"{width}, {width}, 1, 1")
    yield from mixed("downsample", f"downsample_convs{at}", f"{width}, {width}, 3, 3")
    for role in ("fpn", "pan"):
        name = f"{role}_blocks{at}"
        for number in (1, 2):
            yield from mixed(f"{role}_conv{number}", f"{name}.conv{number}", f"{inner}, 2 * {width}, 1, 1")
        yield from bottlenecks(role, name, inner, "3")
        yield from mixed(f"{role}_conv3", name + ".conv3", f"{width}, {inner}, 1, 1", f"{inner} != {width}")


def deformable_attention(prefix: str = DECODER_LAYER, points: str = "points") -> Iterator[Row]:
    """Each head looks at so many points, and weighs them."""
    name = prefix + "encoder_attn."
    heads = f"decoder_attention_heads * {points}"
    yield linear("sampling_offsets", name + "sampling_offsets", f"{heads} * 2, d_model", "decoder", group="attention")
    yield linear("attention_weights", name + "attention_weights", f"{heads}, d_model", "decoder", group="attention")


def decoder_layers() -> Iterator[Row]:
    yield from self_attention(DECODER_LAYER, "d_model", "decoder")
    yield from deformable_attention()
    yield linear("cross_v_proj", DECODER_LAYER + "encoder_attn.value_proj", "d_model, d_model", "decoder")
    yield linear("cross_o_proj", DECODER_LAYER + "encoder_attn.output_proj", "d_model, d_model", "decoder")
    yield linear("cross_layernorm", DECODER_LAYER + "encoder_attn_layer_norm", "d_model", "decoder", group="norm")
    yield from feed_forward(DECODER_LAYER, "d_model", "decoder_ffn_dim", "decoder")
    yield from layer_norms(DECODER_LAYER, "d_model", "decoder")


def encoder_projections(number: str = "len(backbone_config.channels)", channels: str = "layer") -> Iterator[Row]:
    """What brings the backbone's features to the encoder's width."""
    yield from in_sequence(
        "encoder_input_proj",
        f"model.encoder_input_proj.{{layer<{number}}}",
        f"encoder_hidden_dim, backbone_config.channels[{channels}], 1, 1",
    )


def decoder_projections() -> Iterator[Row]:
    """What brings the encoder's features to the decoder's width; coarser ones than the encoder's are made of them."""
    given = "len(decoder_in_channels)"
    size = f"1 if layer < {given} else 3"
    yield from in_sequence(
        "decoder_input_proj",
        f"model.decoder_input_proj.{{layer<max(num_feature_levels, {given})}}",
        f"d_model, d_model if layer > {given} else decoder_in_channels[min(layer, {given} - 1)], {size}, {size}",
    )


def noisy_queries(classes: str = "num_labels + 1", when: str = "num_denoising > 0", heads: str = "") -> Row:
    """The classes of the noisy boxes that a model is trained with."""
    return Row("embed_classes", "model.denoising_class_embed", f"{classes}, d_model", when=when, heads=heads)


def first_queries(box: str = "4") -> Iterator[Row]:
    """The queries: the encoder's features that look most like a thing, or learned ones."""
    yield Row("embed_queries", "model.weight_embedding", "num_queries, d_model", when="learn_initial_query")
    yield Row("encoder_output", "model.enc_output.0", "d_model, d_model", bias="True", group="head")
    yield Row("encoder_output_norm", "model.enc_output.1", "d_model", bias="True")
    yield Row("encoder_classifier", "model.enc_score_head", "num_labels, d_model", bias="True", group="head")
    yield perceptron("encoder_bbox_predictor", "model.enc_bbox_head", f"d_model, d_model, {box}", "3")


def query_position(box: str = "4") -> Row:
    return perceptron(
        "query_position", DECODER + "query_pos_head", f"{box}, 2 * d_model, d_model", "2", tower="decoder"
    )


def predictors(
    widths: str = "d_model, d_model, 4", heads: str = DETECTION, when: str = "", boxes: str = ""
) -> Iterator[Row]:
    """What tells classes and boxes, after each layer of the decoder; `boxes` is the condition for the latter alone."""
    at = {word: f"{DECODER}{word}_embed.{{layer<decoder_layers}}" for word in ("class", "bbox")}
    yield Row("classifier", at["class"], "num_labels, d_model", bias="True", heads=heads, when=when, tower="decoder")
    yield perceptron("bbox_predictor", at["bbox"], widths, "3", heads=heads, when=boxes or when, tower="decoder")


def second_predictors(widths: str = "d_model, d_model, 4", when: str = "", boxes: str = "") -> Iterator[Row]:
    """The same once more beside the decoder, where the two are not tied."""
    at, tied = "{layer<decoder_layers}", "tie_word_embeddings"
    yield Row(
        "second_classifier",
        f"class_embed.{at}",
        "num_labels, d_model",
        bias="True",
        heads=DETECTION,
        tied=tied,
        when=when,
        group="head",
    )
    yield perceptron(
        "second_bbox_predictor", f"bbox_embed.{at}", widths, "3", heads=DETECTION, tied=tied, when=boxes or when
    )


DEFAULTS: Mapping[str, Any] = {
    "freeze_backbone_batch_norms": True,
    "encoder_hidden_dim": 256,
    "encoder_in_channels": [512, 1024, 2048],
    "encoder_layers": 1,
    "encoder_ffn_dim": 1024,
    "encode_proj_layers": [2],
    "hidden_expansion": 1.0,
    "d_model": 256,
    "num_queries": 300,
    "decoder_in_channels": [256, 256, 256],
    "decoder_ffn_dim": 1024,
    "num_feature_levels": 3,
    "decoder_n_points": 4,
    "decoder_n_levels": 3,
    "decoder_layers": 6,
    "decoder_attention_heads": 8,
    "num_denoising": 100,
    "learn_initial_query": False,
}
FIELDS = {"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"}
BACKBONE = {"out_indices": [2, 3, 4]}

FAMILY = Family(
    name="rt_detr",
    types={"rt_detr": {}, "rt_detr_v2": {"is_v2": True}},
    rows=(
        *backbone("rt_detr_resnet", COUNTERS),
        *encoder_projections(),
        *decoder_projections(),
        *encoder_layers(),
        *across_scales(),
        noisy_queries(),
        *first_queries(),
        *decoder_layers(),
        Row(
            "points_scale",
            DECODER_LAYER + "encoder_attn.n_points_scale",
            "points",
            when="is_v2",
            leaf="",
            buffer=True,
            persistent=True,
            tower="decoder",
        ),
        query_position(),
        *predictors(),
        *second_predictors(when="is_v2"),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={**DEFAULTS, "backbone_config": BACKBONE, "is_v2": False},
    derived={"points": "(decoder_n_levels if is_v2 else num_feature_levels) * decoder_n_points"},
    fields=FIELDS,
)
