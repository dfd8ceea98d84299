"""Whisper: convolutions over a spectrogram, an encoder, and a decoder that is the language model."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

BOTH = "ForConditionalGeneration Model"
HEARS, SPEAKS, TOLD = f"{BOTH} ForAudioClassification", f"{BOTH} ForCausalLM", "ForAudioClassification"


def attention(at: str, tower: str, heads: str, before: str = "") -> Iterator[Row]:
    """A projection of keys has no bias, the others have."""
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        bias = "" if role == "k_proj" else "True"
        yield Row(before + role, f"{at}.{word}", "d_model, d_model", bias=bias, heads=heads, tower=tower)


def stack(side: str, heads: str) -> Iterator[Row]:
    """The layers of the encoder or the decoder, and the norm after them."""
    layer = f"model.{side}.layers.{{layer<{side}_layers}}."

    def linear(role: str, name: str, shape: str, group: str = "") -> Row:
        return Row(role, name, shape, bias="True", heads=heads, tower=side, group=group)

    yield linear("input_layernorm", layer + "self_attn_layer_norm", "d_model")
    yield from attention(layer + "self_attn", side, heads)
    if side == "decoder":
        yield linear("cross_layernorm", layer + "encoder_attn_layer_norm", "d_model", "norm")
        yield from attention(layer + "encoder_attn", side, heads, "cross_")
    yield linear("pre_feedforward_layernorm", layer + "final_layer_norm", "d_model")
    yield linear("up_proj", layer + "fc1", f"{side}_ffn_dim, d_model")
    yield linear("down_proj", layer + "fc2", f"d_model, {side}_ffn_dim")
    yield linear("norm", f"model.{side}.layer_norm", "d_model")


def spectrogram(role: str, word: str, shape: str, bias: str = "True") -> Row:
    return Row(role, "model.encoder." + word, shape, bias=bias, heads=HEARS, tower="encoder")


FAMILY = Family(
    name="whisper",
    types={"whisper": {}},
    rows=(
        spectrogram("conv1", "conv1", "d_model, num_mel_bins, 3"),
        spectrogram("conv2", "conv2", "d_model, d_model, 3"),
        spectrogram("embed_positions", "embed_positions", "max_source_positions, d_model", ""),
        *stack("encoder", HEARS),
        Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, d_model", heads=SPEAKS, tower="decoder"),
        Row(
            "embed_positions",
            "model.decoder.embed_positions",
            "max_target_positions, d_model",
            heads=SPEAKS,
            tower="decoder",
        ),
        *stack("decoder", SPEAKS),
        Row(
            "lm_head",
            "proj_out",
            "vocab_size, d_model",
            heads="ForCausalLM ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "layer_weights",
            "layer_weights",
            "encoder_layers + 1",
            when="use_weighted_layer_sum",
            heads=TOLD,
            leaf="",
            group="head",
        ),
        Row("projector", "projector", "classifier_proj_size, d_model", bias="True", heads=TOLD, group="head"),
        Row("classifier", "classifier", "num_labels, classifier_proj_size", bias="True", heads=TOLD),
    ),
    prefix="model.",
    prefixes={TOLD: ""},
    head="ForConditionalGeneration",
    defaults={
        "vocab_size": 51865,
        "d_model": 384,
        "encoder_layers": 4,
        "decoder_layers": 4,
        "encoder_ffn_dim": 1536,
        "decoder_ffn_dim": 1536,
        "num_mel_bins": 80,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "use_weighted_layer_sum": False,
        "classifier_proj_size": 256,
    },
    fields={
        "hidden_size": "d_model",
        "num_hidden_layers": "encoder_layers",
        "num_attention_heads": "encoder_attention_heads",
    },
)
