"""Wav2Vec2-BERT: conformer layers over filter banks, as Seamless' speech encoder has them."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.families import wav2vec2
from inspector.architectures.families.wav2vec2_conformer import conformer_layers
from inspector.architectures.table import Family, Row

PREFIX = "wav2vec2_bert."
LAYER = PREFIX + "encoder.layers.{layer<num_hidden_layers}."


def adapter() -> Iterator[Row]:
    """A conformer's layers that stride: a convolution beside attention, and a feed-forward."""
    there, differs = "add_adapter", "add_adapter and output_hidden_size != hidden_size"
    at = PREFIX + "adapter.layers.{layer<num_adapter_layers}."
    convolution = "2 * output_hidden_size, output_hidden_size, adapter_kernel_size"
    square = "output_hidden_size, output_hidden_size"
    for role, name, shape, when in (
        ("adapter_proj", PREFIX + "adapter.proj", "output_hidden_size, hidden_size", differs),
        ("adapter_proj_norm", PREFIX + "adapter.proj_layer_norm", "output_hidden_size", differs),
        ("adapter_residual_norm", at + "residual_layer_norm", "output_hidden_size", there),
        ("adapter_residual_conv", at + "residual_conv", convolution, there),
        ("adapter_attention_norm", at + "self_attn_layer_norm", "output_hidden_size", there),
        ("adapter_attention_conv", at + "self_attn_conv", convolution, there),
        ("adapter_q_proj", at + "self_attn.linear_q", square, there),
        ("adapter_k_proj", at + "self_attn.linear_k", square, there),
        ("adapter_v_proj", at + "self_attn.linear_v", square, there),
        ("adapter_o_proj", at + "self_attn.linear_out", square, there),
        ("adapter_ffn_norm", at + "ffn_layer_norm", "output_hidden_size", there),
        ("adapter_up_proj", at + "ffn.intermediate_dense", "intermediate_size, output_hidden_size", there),
        ("adapter_down_proj", at + "ffn.output_dense", "output_hidden_size, intermediate_size", there),
    ):
        yield wav2vec2.linear(role, name, shape, when, "adapter")


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
        *conformer_layers(PREFIX),
        Row(
            "distance_embedding",
            LAYER + "self_attn.distance_embedding",
            "left_max_position_embeddings + right_max_position_embeddings + 1, hidden_size // num_attention_heads",
            when="position_embeddings_type == 'relative_key'",
            group="attention",
        ),
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
        *adapter(),
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
