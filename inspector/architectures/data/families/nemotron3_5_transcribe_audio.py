"""Nemotron 3.5 Transcribe's audio model: encoders of speech and of speakers, each by its own table."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="nemotron3_5_transcribe_audio",
    types={"nemotron3_5_transcribe_audio": {}},
    rows=(
        Include(
            "asr_config", "asr_encoder.", tower="asr", head="Model", default_type="nemotron3_5_transcribe_asr_audio"
        ),
        Include(
            "diarization_config",
            "diarization_model.model.",
            tower="diarization",
            head="Model",
            default_type="nemotron3_diarization",
        ),
        Row(
            "silence_embeds", "diarization_model.silence_embeds", "diarization_config.audio_config.hidden_size", leaf=""
        ),
        Row(
            "dense",
            "diarization_model.classifier.dense",
            "diarization_config.head_config.hidden_size, diarization_config.head_config.hidden_size",
            bias="True",
            group="head",
        ),
        Row(
            "out_proj",
            "diarization_model.classifier.out_proj",
            "diarization_config.head_config.num_speakers, diarization_config.head_config.hidden_size",
            bias="True",
        ),
        Row("asr_norm", "asr_norm", "asr_config.hidden_size", bias="True"),
        Row("speaker_norm", "speaker_norm", "diarization_config.head_config.num_speakers", bias="True"),
    ),
    defaults={
        "asr_config": {"hidden_size": 1280},
        "diarization_config": {
            "audio_config": {"hidden_size": 512},
            "head_config": {"hidden_size": 192, "num_speakers": 8},
        },
    },
    head="Model",
)
