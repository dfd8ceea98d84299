"""Qwen3-Omni's thinker: a mixture that sees and hears."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="qwen3_omni_moe_thinker",
    types={"qwen3_omni_moe_thinker": {}},
    rows=(
        Include(
            "audio_config", "audio_tower.", tower="audio", head="Model", default_type="qwen3_omni_moe_audio_encoder"
        ),
        Include("vision_config", "visual.", tower="vision", head="Model", default_type="qwen3_omni_moe_vision_encoder"),
        Include("text_config", "model.", head="Model", default_type="qwen3_omni_moe_text"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    prefixes={"Model": "language_model."},
    head="ForConditionalGeneration",
    defaults={"audio_config": {}, "text_config": {}, "vision_config": {}, "tie_word_embeddings": False},
)
