"""Model type idefics3: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="idefics3",
    types={"idefics3": {}},
    rows=(
        Include("text_config", "model.text_model.", head="Model", default_type="llama"),
        Include(
            "vision_config",
            "model.vision_model.",
            tower="vision",
            head="Idefics3VisionTransformer",
            default_type="idefics3_vision",
        ),
        Row(
            "proj",
            "model.connector.modality_projection.proj",
            "text_config.hidden_size, scale_factor ** 2 * vision_config.hidden_size",
            tower="projector",
        ),
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
        "scale_factor": 2,
        "text_config": {"hidden_size": 4096, "vocab_size": 32000},
        "tie_word_embeddings": False,
        "vision_config": {"hidden_size": 1152},
    },
    head="ForConditionalGeneration",
)
