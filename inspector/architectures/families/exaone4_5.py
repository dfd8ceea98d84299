"""Model type exaone4_5: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="exaone4_5",
    types={"exaone4_5": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="exaone4"),
        Include("vision_config", "model.visual.", tower="vision", head="Model", default_type="exaone4_5_vision"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={"text_config": {"hidden_size": 4096, "vocab_size": 102400}, "tie_word_embeddings": False},
    head="ForConditionalGeneration",
)
