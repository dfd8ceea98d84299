"""wav2vec 2.0 with conformer layers: a convolution between attention and the second of two feed-forwards."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family, Row

PREFIX = "wav2vec2_conformer."

RELATIVE = "position_embeddings_type == 'relative'"


def feed_forward(layer: str, which: str, inner: str = "intermediate_size") -> Iterator[Row]:
    """One of the two half-weighted feed-forwards of a layer, with the norm before it."""
    at = layer + which
    yield wav2vec2.linear(which + "_norm", at + "_layer_norm", "hidden_size", group="norm")
    yield wav2vec2.linear(which + "_up_proj", at + ".intermediate_dense", f"{inner}, hidden_size", group="feed_forward")
    yield wav2vec2.linear(which + "_down_proj", at + ".output_dense", f"hidden_size, {inner}", group="feed_forward")


def attention(layer: str, heads: str) -> Iterator[Row]:
    """Attention, with Transformer-XL's relative places where they are asked for."""
    at = layer + "self_attn."
    yield wav2vec2.linear("input_layernorm", layer + "self_attn_layer_norm", "hidden_size")
    for role, word in (
        ("q_proj", "linear_q"),
        ("k_proj", "linear_k"),
        ("v_proj", "linear_v"),
        ("o_proj", "linear_out"),
    ):
        yield wav2vec2.linear(role, at + word, "hidden_size, hidden_size")
    yield Row("pos_proj", at + "linear_pos", "hidden_size, hidden_size", when=RELATIVE, group="attention")
    for word in ("pos_bias_u", "pos_bias_v"):
        yield Row(
            word,
            at + word,
            f"{heads}, hidden_size // {heads}",
            when=RELATIVE,
            leaf="",
            group="attention",
        )


def convolution_module(layer: str) -> Iterator[Row]:
    """Pointwise with a gate, depthwise, pointwise."""
    at = layer + "conv_module."
    yield wav2vec2.linear("conv_module_norm", at + "layer_norm", "hidden_size", group="norm")
    yield Row("pointwise_conv1", at + "pointwise_conv1", "2 * hidden_size, hidden_size, 1")
    yield Row("depthwise_conv", at + "depthwise_conv", "hidden_size, 1, conv_depthwise_kernel_size")
    yield Row("pointwise_conv2", at + "pointwise_conv2", "hidden_size, hidden_size, 1")


def batch_norm(layer: str) -> Iterator[Row]:
    at = layer + "conv_module.batch_norm"
    yield wav2vec2.linear("batch_norm", at, "hidden_size")
    for statistic, shape in (
        ("running_mean", "hidden_size"),
        ("running_var", "hidden_size"),
        ("num_batches_tracked", ""),
    ):
        yield Row(statistic, f"{at}.{statistic}", shape, leaf="", buffer=True, persistent=True)


def conformer_layers(layer: str, inner: str = "intermediate_size", heads: str = "num_attention_heads") -> Iterator[Row]:
    """What each layer has, but for the norm after the depthwise convolution."""
    yield from feed_forward(layer, "ffn1", inner)
    yield from attention(layer, heads)
    yield from convolution_module(layer)
    yield from feed_forward(layer, "ffn2", inner)
    yield wav2vec2.linear("post_feedforward_layernorm", layer + "final_layer_norm", "hidden_size")


LAYER = PREFIX + "encoder.layers.{layer<num_hidden_layers}."

FAMILY = Family(
    name="wav2vec2-conformer",
    types={"wav2vec2-conformer": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX),
        *wav2vec2.waveform_encoder(PREFIX),
        *wav2vec2.feature_projection(PREFIX),
        *wav2vec2.positional_convolution(PREFIX),
        Row(
            "inv_freq",
            PREFIX + "encoder.embed_positions.inv_freq",
            "ceil(hidden_size // num_attention_heads / 2)",
            when="position_embeddings_type == 'rotary'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        *conformer_layers(LAYER),
        *batch_norm(LAYER),
        wav2vec2.linear("norm", PREFIX + "encoder.layer_norm", "hidden_size"),
        *wav2vec2.adapter(PREFIX),
        *wav2vec2.quantizer(),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.PRETRAINING,
    defaults={
        **wav2vec2.SIZES,
        "vocab_size": None,
        "position_embeddings_type": "relative",
        "conv_depthwise_kernel_size": 31,
    },
    derived=wav2vec2.DERIVED,
)
