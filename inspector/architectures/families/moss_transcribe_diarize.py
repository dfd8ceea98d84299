"""Model type moss_transcribe_diarize: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="moss_transcribe_diarize",
    types={"moss_transcribe_diarize": {}},
    rows=(
        Include(
            "audio_config",
            "model.audio_tower.",
            tower="audio",
            head="Model",
            default_type="moss_transcribe_diarize_audio",
        ),
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3"),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "text_config.hidden_size, audio_config.hidden_size * audio_merge_size",
            bias="projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="projector_bias",
            tower="projector",
        ),
        Row("norm", "model.multi_modal_projector.norm", "text_config.hidden_size", bias="True", tower="projector"),
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
        "audio_config": {"hidden_size": 1024},
        "audio_merge_size": 4,
        "projector_bias": True,
        "text_config": {"hidden_size": 1024, "vocab_size": 151936},
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
