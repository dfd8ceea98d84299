"""Model type cohere2_vision: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="cohere2_vision",
    types={"cohere2_vision": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="cohere2"),
        Include(
            "vision_config", "model.vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "alignment_intermediate_size, downsample_factor ** 2 * vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "text_config.hidden_size, alignment_intermediate_size // 2",
            bias="True",
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
        "alignment_intermediate_size": 36864,
        "downsample_factor": 2,
        "text_config": {"hidden_size": 8192, "vocab_size": 256000},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 1152},
    },
    head="ForConditionalGeneration",
)
