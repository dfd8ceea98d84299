"""Qwen2-Audio: Whisper's encoder before Qwen2, with one layer between them."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model, projector
from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="qwen2_audio",
    types={"qwen2_audio": {}},
    rows=(
        *language_model("qwen2", tied=""),
        Include(
            "audio_config", "audio_tower.", tower="audio", head="Qwen2AudioEncoder", default_type="qwen2_audio_encoder"
        ),
        projector("linear", "linear", "text_config.hidden_size, audio_config.d_model", bias="True"),
    ),
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "audio_config": {"d_model": 1280}},
)
