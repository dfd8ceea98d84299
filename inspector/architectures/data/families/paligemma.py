"""PaliGemma: Gemma, SigLIP's tower, and one layer between them."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model, projector
from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="paligemma",
    types={"paligemma": {}},
    rows=(
        *language_model("gemma"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        projector("linear", "linear", "projection_dim, vision_config.hidden_size", bias="True"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "projection_dim": 2048,
        "text_config": {"hidden_size": 2048, "vocab_size": 257152},
        "vision_config": {"hidden_size": 1152},
        "tie_word_embeddings": True,
    },
)
