"""Model types musicflamingo, audioflamingo3: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="musicflamingo",
    types={"musicflamingo": {}, "audioflamingo3": {}},
    rows=(
        Include(
            "audio_config",
            "audio_tower.",
            tower="audio",
            head="AudioFlamingo3Encoder",
            default_type="audioflamingo3_encoder",
        ),
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="qwen2",
            heads="ForConditionalGeneration",
            tied="False",
        ),
        Include(
            "text_config",
            "language_model.model.",
            head="Model",
            default_type="qwen2",
            heads="Model",
            tied="False",
        ),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, audio_config.hidden_size",
            bias="projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="projector_bias",
            tower="projector",
        ),
    ),
    defaults={
        "audio_config": {"hidden_size": 1280},
        "projector_bias": True,
        "text_config": {"hidden_size": 4096, "tie_word_embeddings": False, "vocab_size": 151936},
    },
    head="ForConditionalGeneration",
)
