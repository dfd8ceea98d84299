"""Gemma 4: the text model, and where the configuration has them a vision and an audio tower."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

VISION, AUDIO = "vision_config is not None", "audio_config is not None"

FAMILY = Family(
    name="gemma4",
    types={"gemma4": {}},
    rows=(
        Include("text_config", "model.language_model.", strip="model.", head="Model", default_type="gemma4_text"),
        Include(
            "vision_config",
            "model.vision_tower.",
            tower="vision",
            head="Model",
            default_type="gemma4_vision",
            when=VISION,
        ),
        Include(
            "audio_config", "model.audio_tower.", tower="audio", head="Model", default_type="gemma4_audio", when=AUDIO
        ),
        Row(
            "vision_proj",
            "model.embed_vision.embedding_projection",
            "text_config.hidden_size, vision_config.hidden_size",
            when=VISION,
            tower="projector",
            group="other",
        ),
        Row(
            "audio_proj",
            "model.embed_audio.embedding_projection",
            "text_config.hidden_size, audio_config.output_proj_dims",
            when=AUDIO,
            tower="projector",
            group="other",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={
        "text_config": {"hidden_size": 2304, "vocab_size": 262144},
        "vision_config": None,
        "audio_config": None,
        "tie_word_embeddings": True,
    },
    derived={
        "vision_width": "vision_config.hidden_size or 768",
        "audio_width": "audio_config.output_proj_dims or 1536",
    },
)
