"""Model type glmasr: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="glmasr",
    types={"glmasr": {}},
    rows=(
        Include("audio_config", "audio_tower.", tower="audio", head="GlmAsrEncoder", default_type="glmasr_encoder"),
        Include("text_config", "language_model.model.", head="Model", default_type="llama"),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "2 * text_config.hidden_size, audio_config.intermediate_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, 2 * text_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    defaults={
        "audio_config": {"intermediate_size": 5120},
        "text_config": {"hidden_size": 2048, "vocab_size": 59264},
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
