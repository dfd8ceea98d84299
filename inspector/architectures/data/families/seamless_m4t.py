"""SeamlessM4T and its second version: encoders of text and speech, a decoder, a model from text to units, a vocoder.

modeling_seamless_m4t.py, modeling_seamless_m4t_v2.py. The second version makes all units at once, from characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.architectures.data.families.encodec import both
from inspector.architectures.data.families.hifigan import hifigan
from inspector.architectures.data.families.wav2vec2 import linear
from inspector.architectures.data.families.wav2vec2_bert import adapter, distance_embedding
from inspector.architectures.data.families.wav2vec2_conformer import batch_norm, conformer_layers
from inspector.architectures.table import Family, Row

READS = "ForTextToText ForTextToSpeech Model"
HEARS = "ForSpeechToText ForSpeechToSpeech Model"
SPEAKS = "ForTextToSpeech ForSpeechToSpeech Model"

SPEECH = "speech_encoder."
LAYER = SPEECH + "encoder.layers.{layer<speech_encoder_layers}."
INNER, HEADS = "speech_encoder_intermediate_size", "speech_encoder_attention_heads"


def of(rows: Iterable[Row], heads: str, tower: str, when: str = "") -> Iterator[Row]:
    """The rows of a part that some classes have."""
    return (row._replace(heads=heads, tower=tower, when=both(when, row.when)) for row in rows)


def speech_encoder() -> Iterator[Row]:
    """Conformer layers over filter banks; the second version's have a layer norm in their convolution."""
    into = "feature_projection_input_dim"
    yield linear("feature_norm", SPEECH + "feature_projection.layer_norm", into)
    yield linear(
        "feature_projection", SPEECH + "feature_projection.projection", f"hidden_size, {into}", group="embedding"
    )
    yield from conformer_layers(LAYER, INNER, HEADS)
    yield distance_embedding(LAYER, HEADS)
    yield from (row._replace(when="not second") for row in batch_norm(LAYER))
    yield linear("depthwise_norm", LAYER + "conv_module.depthwise_layer_norm", "hidden_size", "second")
    yield Row(
        "inv_freq",
        SPEECH + "encoder.embed_positions.inv_freq",
        f"ceil(hidden_size // {HEADS} / 2)",
        when="position_embeddings_type == 'rotary'",
        leaf="",
        buffer=True,
        persistent=True,
    )
    yield linear("norm", SPEECH + "encoder.layer_norm", "hidden_size")
    at = SPEECH + "intermediate_ffn."
    yield linear("ffn_up_proj", at + "intermediate_dense", f"{INNER}, hidden_size", group="feed_forward")
    yield linear("ffn_down_proj", at + "output_dense", f"hidden_size, {INNER}", group="feed_forward")
    yield from adapter(SPEECH + "adapter.", "hidden_size", INNER, "adaptor_kernel_size")
    yield linear("inner_norm", SPEECH + "inner_layer_norm", "hidden_size")


def attention(layer: str, name: str, before: str = "") -> Iterator[Row]:
    for role, word in (("q_proj", "q_proj"), ("k_proj", "k_proj"), ("v_proj", "v_proj"), ("o_proj", "out_proj")):
        yield linear(before + role, f"{layer}{name}.{word}", "hidden_size, hidden_size")


def stack(at: str, fields: str, *, decoder: bool = False) -> Iterator[Row]:
    """An encoder's or a decoder's layers and the norm after them; the fields begin with `fields`."""
    layer = f"{at}layers.{{layer<{fields}_layers}}."
    inner = f"{fields}_ffn_dim"
    yield linear("input_layernorm", layer + "self_attn_layer_norm", "hidden_size")
    yield from attention(layer, "self_attn")
    if decoder:
        yield linear("cross_layernorm", layer + "cross_attention_layer_norm", "hidden_size", group="norm")
        yield from attention(layer, "cross_attention", "cross_")
    yield linear("pre_feedforward_layernorm", layer + "ffn_layer_norm", "hidden_size")
    yield linear("up_proj", layer + "ffn.fc1", f"{inner}, hidden_size")
    yield linear("down_proj", layer + "ffn.fc2", f"hidden_size, {inner}")
    yield linear("norm", at + "layer_norm", "hidden_size")


def duration_predictor(at: str, into: str, inner: str, kernel: str) -> Iterator[Row]:
    """How long each unit lasts."""
    for role, word, shape in (
        ("duration_conv1", "conv1", f"{inner}, {into}, {kernel}"),
        ("duration_norm1", "ln1", inner),
        ("duration_conv2", "conv2", f"{inner}, {inner}, {kernel}"),
        ("duration_norm2", "ln2", inner),
        ("duration_proj", "proj", f"1, {inner}"),
    ):
        yield linear(role, at + word, shape)


UNITS = "t2u_model.model.decoder."


def unit_decoder() -> Iterator[Row]:
    """The second version's decoder of units: convolutions instead of attention to the encoder and a feed-forward."""
    layer = UNITS + "layers.{layer<t2u_decoder_layers}."
    yield Row("embed_char", UNITS + "embed_char", "char_vocab_size, hidden_size")
    for role in ("pos_emb_alpha_char", "pos_emb_alpha"):
        yield Row(role, UNITS + role, "1", leaf="", group="embedding")
    yield from duration_predictor(
        UNITS + "duration_predictor.",
        "t2u_variance_predictor_embed_dim",
        "t2u_variance_predictor_hidden_dim",
        "t2u_variance_predictor_kernel_size",
    )
    yield linear("input_layernorm", layer + "self_attn_layer_norm", "hidden_size")
    yield from attention(layer, "self_attn")
    for word in ("conv1", "conv2"):
        yield linear(word, layer + word, "hidden_size, hidden_size, 7")
    yield linear("post_attention_layernorm", layer + "conv_layer_norm", "hidden_size")
    yield linear("norm", UNITS + "layer_norm", "hidden_size")


def vocoder() -> Iterator[Row]:
    yield from duration_predictor(
        "vocoder.dur_predictor.", "unit_embed_dim", "unit_embed_dim", "variance_predictor_kernel_size"
    )
    yield Row("unit_embedding", "vocoder.unit_embedding", "unit_hifi_gan_vocab_size, unit_embed_dim")
    yield Row("speaker_embedding", "vocoder.speaker_embedding", "vocoder_num_spkrs, spkr_embed_dim")
    yield Row("language_embedding", "vocoder.language_embedding", "vocoder_num_langs, lang_embed_dim")
    yield from hifigan("vocoder.hifi_gan.", "unit_embed_dim + lang_embed_dim + spkr_embed_dim")


def embedding(name: str, heads: str, tower: str) -> Row:
    """An embedding that is the shared one, where they are tied."""
    return Row("embed_tokens", name, "vocab_size, hidden_size", heads=heads, tied="tie_word_embeddings", tower=tower)


FAMILY = Family(
    name="seamless_m4t",
    types={
        "seamless_m4t": {"second": False, "position_embeddings_type": "relative"},
        "seamless_m4t_v2": {"second": True, "position_embeddings_type": "relative_key"},
    },
    rows=(
        Row("embed_tokens", "shared", "vocab_size, hidden_size"),
        embedding("text_encoder.embed_tokens", READS, "encoder"),
        *of(stack("text_encoder.", "encoder"), READS, "encoder"),
        *of(speech_encoder(), HEARS, "audio"),
        embedding("text_decoder.embed_tokens", "", "decoder"),
        *of(stack("text_decoder.", "decoder", decoder=True), "", "decoder"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", tied="tie_word_embeddings"),
        *of(stack("t2u_model.model.encoder.", "t2u_encoder"), SPEAKS, "unit_encoder"),
        Row("embed_tokens", UNITS + "embed_tokens", "t2u_vocab_size, hidden_size", heads=SPEAKS, tower="unit_decoder"),
        *of(stack(UNITS, "t2u_decoder", decoder=True), SPEAKS, "unit_decoder", "not second"),
        *of(unit_decoder(), SPEAKS, "unit_decoder", "second"),
        Row(
            "lm_head",
            "t2u_model.lm_head",
            "t2u_vocab_size, hidden_size",
            heads=SPEAKS,
            tied="tie_word_embeddings",
            tower="unit_decoder",
        ),
        *of(vocoder(), SPEAKS, "vocoder"),
    ),
    head="ForTextToText",
    defaults={
        "vocab_size": 256102,
        "t2u_vocab_size": 10082,
        "char_vocab_size": 10943,
        "hidden_size": 1024,
        "encoder_layers": 24,
        "encoder_ffn_dim": 8192,
        "decoder_layers": 24,
        "decoder_ffn_dim": 8192,
        "speech_encoder_layers": 24,
        "speech_encoder_attention_heads": 16,
        "speech_encoder_intermediate_size": 4096,
        "feature_projection_input_dim": 160,
        "conv_depthwise_kernel_size": 31,
        "left_max_position_embeddings": 64,
        "right_max_position_embeddings": 8,
        "add_adapter": True,
        "adaptor_kernel_size": 8,
        "num_adapter_layers": 1,
        "t2u_encoder_layers": 6,
        "t2u_encoder_ffn_dim": 8192,
        "t2u_decoder_layers": 6,
        "t2u_decoder_ffn_dim": 8192,
        "t2u_variance_predictor_embed_dim": 1024,
        "t2u_variance_predictor_hidden_dim": 256,
        "t2u_variance_predictor_kernel_size": 3,
        "upsample_initial_channel": 512,
        "upsample_rates": [5, 4, 4, 2, 2],
        "upsample_kernel_sizes": [11, 8, 8, 4, 4],
        "resblock_kernel_sizes": [3, 7, 11],
        "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
        "unit_hifi_gan_vocab_size": 10000,
        "unit_embed_dim": 1280,
        "lang_embed_dim": 256,
        "spkr_embed_dim": 256,
        "vocoder_num_langs": 36,
        "vocoder_num_spkrs": 200,
        "variance_predictor_kernel_size": 3,
    },
    fields={"num_hidden_layers": "decoder_layers", "num_attention_heads": "decoder_attention_heads"},
)
