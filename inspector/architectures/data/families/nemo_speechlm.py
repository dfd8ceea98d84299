"""Nemotron 3.5 Transcribe: encoders of speech and of speakers, Nemotron-H, and an encoder that times the words.

modeling_nemotron3_5_transcribe.py. The whole is saved under NeMo's names, the model without its heads under Transformers'
with NeMo's layers.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

WHOLE, BODY = "ForConditionalGeneration", "Model"
ASR, DIARIZATION, WORDS = "audio_config.asr_config", "audio_config.diarization_config", "word_timestamp_config"
SPEAKERS = f"{DIARIZATION}.head_config"
TEXT = "text_config.hidden_size"
MAMBA = "text_config.layers_block_type[layer] == 'linear_attention'"


def encoder(at: str, config: str, tower: str, heads: str, *, normed: bool = True) -> Iterator[Row]:
    """A transformer of NeMo's: queries, keys and values in one weight, a feed-forward in a list with what has no weight."""
    layer = f"{at}layers.{{layer<{config}.num_hidden_layers}}."
    width, number = f"{config}.hidden_size", f"{config}.num_attention_heads"
    head = f"{width} // {number}"
    total = f"(2 * {number} + ({config}.num_key_value_heads or {number})) * ({head})"
    inner = f"{config}.intermediate_size"
    for role, name, shape, bias in (
        ("embed_norm", at + "embed_norm", width, "True"),
        ("input_layernorm", layer + "norm1", width, "True"),
        ("qkv_proj", layer + "attn.w_qkv", f"{total}, {width}", ""),
        *((word, layer + "attn." + word, head, "True") for word in ("q_norm", "k_norm") if normed),
        ("o_proj", layer + "attn.out_proj", f"{width}, {width}", "True"),
        ("post_attention_layernorm", layer + "norm2", width, "True"),
        ("ffn", layer + "ffn.net.0", f"{inner}, {width}", "True"),
        ("ffn", layer + "ffn.net.3", f"{width}, {inner}", "True"),
        ("norm", at + "final_norm", width, "True"),
    ):
        yield Row(role, name, shape, bias=bias, heads=heads, tower=tower)


def stacked_frames(at: str, config: str, tower: str, heads: str) -> Row:
    shape = f"{config}.hidden_size, {config}.num_mel_bins * {config}.subsampling_factor"
    return Row("embed_projection", at + "pre_encode.proj", shape, heads=heads, tower=tower)


def speakers(encoded: str, heads: str, words: tuple[str, ...]) -> Iterator[Row]:
    """Who speaks when: an encoder without norms of queries and keys, and a head at a finer rate."""
    projection, upsampler, dense, out, silence = words
    width, inner = f"{DIARIZATION}.audio_config.hidden_size", f"{SPEAKERS}.hidden_size"
    yield stacked_frames(encoded, f"{DIARIZATION}.audio_config", "diarization", heads)
    yield from encoder(encoded, f"{DIARIZATION}.audio_config", "diarization", heads, normed=False)
    for role, name, shape, group in (
        ("speaker_proj", projection, f"{inner}, {width}", "head"),
        ("upsampler", upsampler, f"{SPEAKERS}.subsampling_factor * {inner}, {inner}, 3", "convolution"),
        ("dense", dense, f"{inner}, {inner}", "head"),
        ("out_proj", out, f"{SPEAKERS}.num_speakers, {inner}", "head"),
    ):
        yield Row(role, name, shape, bias="True", heads=heads, tower="diarization", group=group)
    yield Row("silence_embeds", silence, width, heads=heads, tower="diarization", leaf="")


def language_model(at: str, embedding: str, norm: str, heads: str) -> Iterator[Row | Include]:
    """Nemotron-H, with the recurrence's parameters kept apart in full precision."""
    layer = at + "layers.{layer<len(text_config.layers_block_type)}."
    yield Include(
        "text_config",
        at,
        head="Model",
        default_type="nemotron_h",
        heads=heads,
        without="embeddings norm A_log D dt_bias",
    )
    yield Row("embed_tokens", at + embedding, f"text_config.vocab_size, {TEXT}", heads=heads)
    yield Row("norm", layer + "norm", TEXT, heads=heads)
    for role in ("A_log", "D", "dt_bias"):
        name = f"{layer}mixer._fp32_params.{role}"
        yield Row(role, name, "text_config.mamba_num_heads", when=MAMBA, heads=heads, leaf="")
    yield Row("norm", at + norm, TEXT, heads=heads)


def linear(role: str, name: str, shape: str, heads: str, tower: str = "text", group: str = "") -> Row:
    return Row(role, name, shape, bias="True", heads=heads, tower=tower, group=group)


def model(heads: str, audio: str, norms: tuple[str, str], projector: str, words: str, upsampler: str) -> Iterator[Row]:
    """What both classes have, under each one's names."""
    asr_norm, speaker_norm = norms
    word_width = f"{WORDS}.hidden_size"
    yield stacked_frames(audio + "asr_encoder.", ASR, "asr", heads)
    yield from encoder(audio + "asr_encoder.", ASR, "asr", heads)
    yield linear("asr_norm", audio + asr_norm, f"{ASR}.hidden_size", heads, "audio")
    yield linear("speaker_norm", audio + speaker_norm, f"{SPEAKERS}.num_speakers", heads, "audio")
    yield linear("projector", projector, f"{TEXT}, {ASR}.hidden_size", heads, "projector")
    yield from encoder(words, WORDS, "words", heads)
    upsampled = f"{word_width}, {word_width}, {WORDS}.upsampling_factor"
    yield linear("upsampler", upsampler, upsampled, heads, "words", "convolution")


FAMILY = Family(
    name="nemo_speechlm",
    types={"nemo_speechlm": {}},
    rows=(
        *model(
            WHOLE,
            "perception.encoder.",
            ("asr_norm", "diar_norm"),
            "perception.proj",
            "ctc_timestamp.decoder.transformer.",
            "ctc_timestamp.decoder.upsample",
        ),
        *speakers(
            "perception.encoder.diarization_model.encoder.",
            WHOLE,
            tuple(
                f"perception.encoder.diarization_model.sortformer_modules.{word}"
                for word in (
                    "encoder_proj",
                    "subpixel_upsample",
                    "first_hidden_to_hidden",
                    "single_hidden_to_spks",
                    "learnable_sil_emb",
                )
            ),
        ),
        *language_model("llm.model.", "embed_tokens", "norm", WHOLE),
        Row("lm_head", "llm.lm_head", f"text_config.vocab_size, {TEXT}", heads=WHOLE),
        linear(
            "word_head",
            "ctc_timestamp.decoder.decoder_layers.0",
            f"{WORDS}.vocab_size, {WORDS}.hidden_size, 1",
            WHOLE,
            "words",
        ),
        *model(
            BODY,
            "audio_tower.",
            ("asr_norm", "speaker_norm"),
            "multi_modal_projector",
            "word_timestamp_encoder.",
            "word_timestamp_encoder.upsampler",
        ),
        *speakers(
            "audio_tower.diarization_model.model.audio_tower.",
            BODY,
            tuple(
                f"audio_tower.diarization_model.{word}"
                for word in (
                    "model.proj",
                    "model.upsampler.conv",
                    "classifier.dense",
                    "classifier.out_proj",
                    "silence_embeds",
                )
            ),
        ),
        *language_model("language_model.", "embeddings", "norm_f", BODY),
    ),
    head=WHOLE,
    defaults={"audio_config": {}, "text_config": {}, "word_timestamp_config": {}},
)
