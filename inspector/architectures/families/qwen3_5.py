"""Model type qwen3_5: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="qwen3_5",
    types={"qwen3_5": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3_5_text"),
        Include("vision_config", "model.visual.", tower="vision", head="Model", default_type="qwen3_5_vision"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row("score", "score", "num_labels, text_config.hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, text_config.hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={"text_config": {"hidden_size": 4096, "vocab_size": 248320}, "tie_word_embeddings": False},
    head="ForConditionalGeneration",
)
