"""Perception Encoder's tower over sound and video at once, which has the towers of both within it."""

from __future__ import annotations

from inspector.architectures.data.families.pe_video_encoder import DEFAULTS, transformer
from inspector.architectures.table import Family, Include, Row

ENCODER = "PeAudioVideoEncoder"
#: The tower without those of sound and video, which a larger model has elsewhere.
ALONE = "Alone"

FAMILY = Family(
    name="pe_audio_video_encoder",
    types={"pe_audio_video_encoder": {}},
    rows=(
        Include(
            "audio_config",
            "embedder.audio_encoder.",
            tower="audio",
            head="PeAudioEncoder",
            default_type="pe_audio_encoder",
            heads=ENCODER,
        ),
        Include(
            "video_config",
            "embedder.video_encoder.",
            tower="video",
            head="PeVideoEncoder",
            default_type="pe_video_encoder",
            heads=ENCODER,
        ),
        Row(
            "video_proj",
            "embedder.video_proj",
            "audio_config.hidden_size, video_config.hidden_size, 1",
            bias="True",
            group="embedding",
        ),
        Row("video_norm", "embedder.video_norm", "audio_config.hidden_size", bias="True"),
        Row(
            "concat_modality_proj",
            "embedder.concat_modality_proj",
            "hidden_size, audio_config.hidden_size + video_config.hidden_size",
            bias="True",
            group="embedding",
        ),
        Row("data_proj", "embedder.data_proj", "hidden_size, hidden_size", bias="True", group="embedding"),
        *transformer(),
    ),
    classes={ENCODER: ENCODER},
    defaults={**DEFAULTS, "audio_config": {"hidden_size": 1792}, "video_config": {"hidden_size": 1792}},
    derived={"num_key_value_heads": "num_attention_heads"},
    head=ENCODER,
)
