"""dots3.note: a mixture that sees and hears."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

GENERATION = "ForConditionalGeneration"


def audio_adapter(prefix: str, heads: str) -> Iterator[Row]:
    """A norm and two layers, numbers of one list, under the name that a class gives it."""
    into, out = "audio_config.adapter_input_size", "audio_config.adapter_out_dim"
    for number, shape in ((0, into), (1, f"{out}, {into}"), (3, f"{out}, {out}")):
        name = f"{prefix}audio_adapter.proj.{number}"
        yield Row("audio_adapter", name, shape, bias="True", heads=heads, tower="projector", group="other")


FAMILY = Family(
    name="dots3_note",
    types={"dots3_note": {}},
    rows=(
        Include(
            "vision_config", "vision_encoder.", tower="vision", head="Model", default_type="dots3_note_vision_encoder"
        ),
        Include("audio_config", "audio_encoder.", tower="audio", head="Model", default_type="dots3_note_audio_encoder"),
        *audio_adapter("audio_encoder.", GENERATION),
        *audio_adapter("", "Model"),
        Include("text_config", "model.", "model.", head="Model", default_type="dots3_note_text"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads=GENERATION,
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head=GENERATION,
    defaults={"audio_config": {}, "text_config": {}, "tie_word_embeddings": False, "vision_config": {}},
)
