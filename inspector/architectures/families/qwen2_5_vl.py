"""Model type qwen2_5_vl: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="qwen2_5_vl",
    types={"qwen2_5_vl": {}},
    rows=(
        Include(
            "text_config", "model.", head="Model", default_type="qwen2_5_vl_text", heads="ForConditionalGeneration"
        ),
        Include("text_config", "language_model.", head="Model", default_type="qwen2_5_vl_text", heads="Model"),
        Include("vision_config", "visual.", tower="vision", head="Model", default_type="qwen2_5_vl_vision"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    prefixes={"Model": "model."},
    defaults={"text_config": {"hidden_size": 8192, "vocab_size": 152064}, "tie_word_embeddings": False},
    head="ForConditionalGeneration",
)
