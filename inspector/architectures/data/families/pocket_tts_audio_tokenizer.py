"""Pocket TTS' audio tokenizer: Mimi's halves, with narrow latents between them instead of codebooks."""

from __future__ import annotations

from inspector.architectures.data.families.pocket_tts_audio_tokenizer_encoder import TOKENIZER
from inspector.architectures.table import Family, Include, Row


def half(word: str) -> Include:
    """A half, which is configured by the fields of the whole."""
    kind = "pocket_tts_audio_tokenizer_" + word
    return Include(
        f"{word}_config", f"{word}.", tower=word, head="Model", default_type=kind, when=f"{word}_config is not None"
    )


FAMILY = Family(
    name="pocket_tts_audio_tokenizer",
    types={"pocket_tts_audio_tokenizer": {}},
    rows=(
        half("encoder"),
        half("decoder"),
        Row("latent_proj", "latent_proj", "hidden_size, latent_dim, 1", group="convolution"),
    ),
    head="Model",
    defaults={**TOKENIZER, "encoder_config": {}, "decoder_config": {}},
)
