"""Model type paligemma: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="paligemma",
    types={"paligemma": {}},
    rows=(
        Include(
            "text_config", "language_model.", head="ForCausalLM", default_type="gemma", heads="ForConditionalGeneration"
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="gemma", heads="Model"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        Row(
            "language_model_lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            when="text_config.tie_word_embeddings",
            tied="tie_word_embeddings",
        ),
        Row(
            "linear",
            "multi_modal_projector.linear",
            "projection_dim, vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
    ),
    defaults={
        "projection_dim": 2048,
        "text_config": {"hidden_size": 2048, "tie_word_embeddings": True, "vocab_size": 257152},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 1152},
    },
    head="ForConditionalGeneration",
)
