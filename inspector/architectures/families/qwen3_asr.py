"""Model type qwen3_asr: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="qwen3_asr",
    types={"qwen3_asr": {}},
    rows=(
        Include(
            "audio_config",
            "model.audio_tower.",
            tower="audio",
            head="Qwen3ASREncoder",
            default_type="qwen3_asr_encoder",
        ),
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3"),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "audio_config.d_model, audio_config.d_model",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "audio_config.output_dim, audio_config.d_model",
            bias="True",
            tower="projector",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row("score", "score", "num_labels, text_config.hidden_size", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "audio_config": {"d_model": 1024, "output_dim": 3584},
        "text_config": {"hidden_size": 2048, "vocab_size": 151936},
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
