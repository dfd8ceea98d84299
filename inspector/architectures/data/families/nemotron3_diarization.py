"""Nemotron 3's diarization: an encoder, and a finer rate for its head."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="nemotron3_diarization",
    types={"nemotron3_diarization": {}},
    rows=(
        Include(
            "audio_config", "audio_tower.", tower="audio", head="Model", default_type="nemotron3_diarization_audio"
        ),
        Row("proj", "proj", "head_config.hidden_size, audio_config.hidden_size", bias="True"),
        Row(
            "conv",
            "upsampler.conv",
            "head_config.subsampling_factor * head_config.hidden_size, head_config.hidden_size, 3",
            bias="True",
        ),
    ),
    defaults={"audio_config": {"hidden_size": 512}, "head_config": {"hidden_size": 192, "subsampling_factor": 8}},
    head="Model",
)
