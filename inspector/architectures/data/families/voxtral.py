"""Voxtral: Whisper's encoder before Llama, four of its frames at a time."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model, projector
from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="voxtral",
    types={"voxtral": {}},
    rows=(
        *language_model("llama", tied=""),
        Include("audio_config", "audio_tower.", tower="audio", head="VoxtralEncoder", default_type="voxtral_encoder"),
        projector("linear_1", "linear_1", "text_config.hidden_size, audio_config.intermediate_size"),
        projector("linear_2", "linear_2", "text_config.hidden_size, text_config.hidden_size"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "text_config": {"hidden_size": 3072, "vocab_size": 131072},
        "audio_config": {"intermediate_size": 5120},
    },
)
