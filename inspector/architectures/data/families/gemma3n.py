"""Gemma 3n: MobileNetV5 for images and a conformer for sound before a language model, each led in by an embedder."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row


def embedder(name: str, config: str) -> Iterator[Row]:
    """What leads a tower into the language model: its own few tokens, and a matrix for what the tower saw."""
    at, width = f"model.embed_{name}.", f"{config}.hidden_size"

    def row(role: str, word: str, shape: str, group: str = "") -> Row:
        return Row(f"{name}_{role}", at + word, shape, tower="projector", group=group)

    yield row("embedding", "embedding", f"{config}.vocab_size, {width}")
    yield row("hard_norm", "hard_embedding_norm", width)
    yield row("soft_norm", "soft_embedding_norm", width)
    yield row("projection", "embedding_projection", f"text_config.hidden_size, {width}", "other")


FAMILY = Family(
    name="gemma3n",
    types={"gemma3n": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="gemma3n_text"),
        Include("vision_config", "model.vision_tower.", tower="vision", default_type="gemma3n_vision"),
        Include("audio_config", "model.audio_tower.", tower="audio", default_type="gemma3n_audio"),
        *embedder("vision", "vision_config"),
        *embedder("audio", "audio_config"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "audio_config": {"hidden_size": 1536, "vocab_size": 128},
        "text_config": {},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 2048, "vocab_size": 128},
    },
    head="ForConditionalGeneration",
)
