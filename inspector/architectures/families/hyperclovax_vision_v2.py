"""Model type hyperclovax_vision_v2: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="hyperclovax_vision_v2",
    types={"hyperclovax_vision_v2": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="hyperclovax"),
        Include("vision_config", "model.vision_model.", tower="vision", head="Model", default_type="qwen2_5_vl_vision"),
        Row(
            "vision_projector",
            "model.vision_projector",
            "text_config.hidden_size, vision_config.out_hidden_size",
            bias="True",
            heads="ForConditionalGeneration",
        ),
        Row(
            "lm_head",
            "model.language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "projector",
            "model.projector",
            "text_config.hidden_size, vision_config.out_hidden_size",
            bias="True",
            heads="Model",
            tower="projector",
        ),
    ),
    prefix="model.",
    defaults={
        "text_config": {"hidden_size": 4096, "vocab_size": 32000},
        "tie_word_embeddings": True,
        "vision_config": {"out_hidden_size": 3584},
    },
    head="ForConditionalGeneration",
)
