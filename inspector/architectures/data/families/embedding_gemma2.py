"""EmbeddingGemma 2: Gemma 4's parts around a text model of its own, and no head."""

from __future__ import annotations

from inspector.architectures.data.families.gemma4 import AUDIO, VISION
from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="embedding_gemma2",
    types={"embedding_gemma2": {}},
    rows=(
        Include("text_config", "language_model.", head="Model", default_type="embedding_gemma2_text"),
        Include(
            "vision_config", "vision_tower.", tower="vision", head="Model", default_type="gemma4_vision", when=VISION
        ),
        Include("audio_config", "audio_tower.", tower="audio", head="Model", default_type="gemma4_audio", when=AUDIO),
        Row(
            "vision_proj",
            "embed_vision.embedding_projection",
            "text_config.hidden_size, vision_config.hidden_size",
            when=VISION,
            tower="projector",
            group="other",
        ),
        Row(
            "audio_proj",
            "embed_audio.embedding_projection",
            "text_config.hidden_size, audio_config.output_proj_dims",
            when=AUDIO,
            tower="projector",
            group="other",
        ),
    ),
    head="Model",
    defaults={"text_config": {}, "vision_config": None, "audio_config": None},
)
