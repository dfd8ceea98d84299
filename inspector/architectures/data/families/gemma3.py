"""Gemma 3 with SigLIP's tower, whose output is pooled and goes through one matrix."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model, projector
from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="gemma3",
    types={"gemma3": {}},
    rows=(
        *language_model("gemma3_text"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        projector("mm_soft_emb_norm", "mm_soft_emb_norm", "vision_config.hidden_size"),
        projector(
            "mm_input_projection",
            "mm_input_projection_weight",
            "vision_config.hidden_size, text_config.hidden_size",
            leaf="",
        ),
        Row("score", "score", "num_labels, text_config.hidden_size", heads="ForSequenceClassification"),
    ),
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "vision_config": {"hidden_size": 768}, "tie_word_embeddings": True},
)
