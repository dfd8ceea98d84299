"""Model type deepseek_vl: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="deepseek_vl",
    types={"deepseek_vl": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="llama"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Row("linear1", "model.aligner.linear1", "text_config.hidden_size, vision_config.hidden_size", bias="True"),
        Row("linear2", "model.aligner.linear2", "text_config.hidden_size, text_config.hidden_size", bias="True"),
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
        "text_config": {"hidden_size": 4096, "vocab_size": 32000},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
