"""Model type voxtral: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="voxtral",
    types={"voxtral": {}},
    rows=(
        Include("audio_config", "audio_tower.", tower="audio", head="VoxtralEncoder", default_type="voxtral_encoder"),
        Include(
            "text_config", "language_model.", head="ForCausalLM", default_type="llama", heads="ForConditionalGeneration"
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="llama", heads="Model"),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, audio_config.intermediate_size",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            tower="projector",
        ),
        Row(
            "language_model_lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            when="text_config.tie_word_embeddings",
            heads="ForConditionalGeneration",
        ),
    ),
    defaults={
        "audio_config": {"intermediate_size": 5120},
        "text_config": {"hidden_size": 3072, "tie_word_embeddings": False, "vocab_size": 131072},
    },
    head="ForConditionalGeneration",
)
