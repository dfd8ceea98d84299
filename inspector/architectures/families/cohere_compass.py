"""Model type cohere_compass: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="cohere_compass",
    types={"cohere_compass": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="cohere_compass_text"),
        Include("vision_config", "model.visual.", tower="vision", head="Model", default_type="cohere_compass_vision"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={"text_config": {"hidden_size": 8192, "vocab_size": 256000}, "tie_word_embeddings": False},
    head="ForConditionalGeneration",
)
