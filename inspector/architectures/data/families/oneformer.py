"""OneFormer: Mask2Former whose queries are told the task, and are compared with a text in training."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import convolution
from inspector.architectures.data.families.mask2former import (
    LAYER,
    SCALES,
    SEGMENTATION,
    STAGES,
    TRANSFORMER,
    class_weights,
    joined_attention,
    pixel_decoder,
    self_attention,
)
from inspector.architectures.data.families.rt_detr import linear
from inspector.architectures.table import Family, Row

QUERIES = TRANSFORMER + "decoder.query_transformer.decoder."
QUERY_LAYER = QUERIES + "layers.{layer<query_dec_layers}."
TEXT = "model.text_mapper."
TEXT_LAYER = TEXT + "text_encoder.transformer.layers.{layer<text_encoder_num_layers}."
TRAINING = "is_training"


def perceptron(role: str, name: str, widths: str, layers: str, *, when: str = "") -> Row:
    """Linear layers in a row: of so many layers, and the widths before, within and after it."""
    before, inside, after = (width.strip() for width in widths.split(","))
    return Row(
        role,
        f"{name}.layers.{{part<max({layers}, 1)}}.0",
        f"{after} if part >= {layers} - 1 else {inside}, {before} if part == 0 else {inside}",
        bias="True",
        when=when,
        group="head",
    )


def query_layers() -> Iterator[Row]:
    """What turns the task into queries."""
    yield from joined_attention(QUERY_LAYER + "self_attn", "hidden_dim", "query_", "decoder")
    yield from joined_attention(QUERY_LAYER + "multihead_attn", "hidden_dim", "query_cross_", "decoder")
    yield linear("query_up_proj", QUERY_LAYER + "linear1", "dim_feedforward, hidden_dim", "decoder")
    yield linear("query_down_proj", QUERY_LAYER + "linear2", "hidden_dim, dim_feedforward", "decoder")
    for number, place in enumerate(("post_attention", "cross", "post_feedforward"), 1):
        yield linear(f"query_{place}_layernorm", f"{QUERY_LAYER}norm{number}", "hidden_dim", "decoder", group="norm")
    yield linear("query_norm", QUERIES + "norm", "hidden_dim", "decoder")


def decoder() -> Iterator[Row]:
    yield from self_attention(LAYER + "self_attn.", "hidden_dim")
    yield from joined_attention(LAYER + "cross_attn.multihead_attn", "hidden_dim", "cross_", "decoder")
    yield linear("up_proj", LAYER + "ffn.linear1", "dim_feedforward, hidden_dim", "decoder")
    yield linear("down_proj", LAYER + "ffn.linear2", "hidden_dim, dim_feedforward", "decoder")
    for role, word in {
        "post_attention_layernorm": "self_attn",
        "cross_layernorm": "cross_attn",
        "post_feedforward_layernorm": "ffn",
    }.items():
        yield linear(role, f"{LAYER}{word}.norm", "hidden_dim", "decoder", group="norm")
    yield linear("norm", TRANSFORMER + "decoder.decoder_norm", "hidden_dim", "decoder")


def text(role: str, name: str, shape: str, *, bias: str = "True", leaf: str = "weight", when: str = TRAINING) -> Row:
    return Row(role, TEXT + name, shape, bias=bias, leaf=leaf, when=when)


def text_mapper() -> Iterator[Row]:
    """A text encoder as CLIP's, there in training alone."""
    width = "text_encoder_width"
    layer = TEXT_LAYER.removeprefix(TEXT)
    yield text("embed_tokens", "text_encoder.token_embedding", f"text_encoder_vocab_size, {width}", bias="")
    places = f"text_encoder_context_length, {width}"
    yield text("embed_positions", "text_encoder.positional_embedding", places, bias="", leaf="")
    yield text("qkv_proj", layer + "self_attn", f"3 * {width}, {width}", leaf="in_proj_weight")
    yield text("o_proj", layer + "self_attn.out_proj", f"{width}, {width}")
    yield text("input_layernorm", layer + "layer_norm1", width)
    yield text("up_proj", layer + "mlp.fc1", f"4 * {width}, {width}")
    yield text("down_proj", layer + "mlp.fc2", f"{width}, 4 * {width}")
    yield text("post_attention_layernorm", layer + "layer_norm2", width)
    yield text("norm", "text_encoder.ln_final", width)
    projector = f"{width}, hidden_dim, hidden_dim"
    yield perceptron("text_projection", TEXT + "text_projector", projector, "text_encoder_proj_layers", when=TRAINING)
    prompts = f"{TRAINING} and text_encoder_n_ctx > 0"
    yield text("embed_prompts", "prompt_ctx", f"text_encoder_n_ctx, {width}", bias="", when=prompts)


FAMILY = Family(
    name="oneformer",
    types={"oneformer": {}},
    rows=(
        *pixel_decoder("conv_dim", "mask_dim", "strides"),
        Row("embed_queries", TRANSFORMER + "queries_embedder", "num_queries, hidden_dim", tower="decoder"),
        Row("level_embed", TRANSFORMER + "level_embed", f"{SCALES}, hidden_dim", tower="decoder"),
        convolution(
            "query_input_projection",
            TRANSFORMER + "decoder.query_input_projection",
            "hidden_dim, conv_dim, 1, 1",
            bias="True",
            tower="decoder",
        ),
        *query_layers(),
        *decoder(),
        perceptron("task_encoder", "model.task_encoder.task_mlp", "task_seq_len, hidden_dim, hidden_dim", "2"),
        *text_mapper(),
        Row("classifier", TRANSFORMER + "decoder.class_embed", "num_labels + 1, hidden_dim", bias="True"),
        perceptron("mask_predictor", TRANSFORMER + "decoder.mask_embed", "hidden_dim, hidden_dim, mask_dim", "3"),
        class_weights(),
        Row(
            "logit_scale",
            "criterion.logit_scale",
            "",
            heads=SEGMENTATION,
            leaf="",
        ),
    ),
    prefix="model.",
    head=SEGMENTATION,
    defaults={
        "backbone_config": STAGES,
        "num_queries": 150,
        "is_training": False,
        "strides": [4, 8, 16, 32],
        "task_seq_len": 77,
        "text_encoder_width": 256,
        "text_encoder_context_length": 77,
        "text_encoder_num_layers": 6,
        "text_encoder_vocab_size": 49408,
        "text_encoder_proj_layers": 2,
        "text_encoder_n_ctx": 16,
        "conv_dim": 256,
        "mask_dim": 256,
        "hidden_dim": 256,
        "encoder_feedforward_dim": 1024,
        "encoder_layers": 6,
        "decoder_layers": 10,
        "num_attention_heads": 8,
        "dim_feedforward": 2048,
        "query_dec_layers": 2,
        "common_stride": 4,
    },
    fields={"hidden_size": "hidden_dim", "num_hidden_layers": "decoder_layers"},
)
