"""Wav2Vec2-BERT: conformer layers over filter banks, as Seamless' speech encoder has them."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.data.families.wav2vec2_conformer import conformer_layers
from inspector.architectures.table import Family, Row

PREFIX = "wav2vec2_bert."
LAYER = PREFIX + "encoder.layers.{layer<num_hidden_layers}."


def adapter(at: str, width: str, inner: str, kernel: str, when: str = "add_adapter") -> Iterator[Row]:
    """A conformer's layers that stride: a convolution beside attention, and a feed-forward."""
    convolution = f"2 * {width}, {width}, {kernel}"
    square = f"{width}, {width}"
    layer = at + "layers.{layer<num_adapter_layers}."
    for role, name, shape in (
        ("adapter_residual_norm", "residual_layer_norm", width),
        ("adapter_residual_conv", "residual_conv", convolution),
        ("adapter_attention_norm", "self_attn_layer_norm", width),
        ("adapter_attention_conv", "self_attn_conv", convolution),
        ("adapter_q_proj", "self_attn.linear_q", square),
        ("adapter_k_proj", "self_attn.linear_k", square),
        ("adapter_v_proj", "self_attn.linear_v", square),
        ("adapter_o_proj", "self_attn.linear_out", square),
        ("adapter_ffn_norm", "ffn_layer_norm", width),
        ("adapter_up_proj", "ffn.intermediate_dense", f"{inner}, {width}"),
        ("adapter_down_proj", "ffn.output_dense", f"{width}, {inner}"),
    ):
        yield wav2vec2.linear(role, layer + name, shape, when, "norm" if shape == width else "adapter")


def distance_embedding(layer: str, heads: str = "num_attention_heads") -> Row:
    """Relative places by distance, as many as are looked back and ahead."""
    return Row(
        "distance_embedding",
        layer + "self_attn.distance_embedding",
        f"left_max_position_embeddings + right_max_position_embeddings + 1, hidden_size // {heads}",
        when="position_embeddings_type == 'relative_key'",
        group="embedding",
    )


#: The adapter brings the width to its own first.
NARROWS = "add_adapter and output_hidden_size != hidden_size"

FAMILY = Family(
    name="wav2vec2-bert",
    types={"wav2vec2-bert": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX),
        wav2vec2.linear("feature_norm", PREFIX + "feature_projection.layer_norm", "feature_projection_input_dim"),
        wav2vec2.linear(
            "feature_projection",
            PREFIX + "feature_projection.projection",
            "hidden_size, feature_projection_input_dim",
            group="embedding",
        ),
        *conformer_layers(LAYER),
        distance_embedding(LAYER),
        wav2vec2.linear("depthwise_norm", LAYER + "conv_module.depthwise_layer_norm", "hidden_size"),
        wav2vec2.linear(
            "ffn_up_proj",
            PREFIX + "intermediate_ffn.intermediate_dense",
            "intermediate_size, hidden_size",
            "use_intermediate_ffn_before_adapter",
            "feed_forward",
        ),
        wav2vec2.linear(
            "ffn_down_proj",
            PREFIX + "intermediate_ffn.output_dense",
            "hidden_size, intermediate_size",
            "use_intermediate_ffn_before_adapter",
            "feed_forward",
        ),
        wav2vec2.linear("adapter_proj", PREFIX + "adapter.proj", "output_hidden_size, hidden_size", NARROWS, "adapter"),
        wav2vec2.linear(
            "adapter_proj_norm", PREFIX + "adapter.proj_layer_norm", "output_hidden_size", NARROWS, "adapter"
        ),
        *adapter(PREFIX + "adapter.", "output_hidden_size", "intermediate_size", "adapter_kernel_size"),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head="Model",
    defaults={
        **wav2vec2.SIZES,
        "vocab_size": None,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "feature_projection_input_dim": 160,
        "classifier_proj_size": 768,
        "num_adapter_layers": 1,
        "use_intermediate_ffn_before_adapter": False,
        "position_embeddings_type": "relative_key",
        "left_max_position_embeddings": 64,
        "right_max_position_embeddings": 8,
        "conv_depthwise_kernel_size": 31,
    },
    derived=wav2vec2.DERIVED,
)
