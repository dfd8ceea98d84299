"""Model type qwen2_audio: audio_config, text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="qwen2_audio",
    types={"qwen2_audio": {}},
    rows=(
        Include(
            "audio_config", "audio_tower.", tower="audio", head="Qwen2AudioEncoder", default_type="qwen2_audio_encoder"
        ),
        Include(
            "text_config", "language_model.", head="ForCausalLM", default_type="qwen2", heads="ForConditionalGeneration"
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="qwen2", heads="Model"),
        Row(
            "linear",
            "multi_modal_projector.linear",
            "text_config.hidden_size, audio_config.d_model",
            bias="True",
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
        "audio_config": {"d_model": 1280},
        "text_config": {"hidden_size": 4096, "tie_word_embeddings": False, "vocab_size": 151936},
    },
    head="ForConditionalGeneration",
)
