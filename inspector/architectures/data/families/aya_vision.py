"""Aya Vision: Cohere's text model, SigLIP's tower, and a gated projector over squares of its patches."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model, projector
from inspector.architectures.table import Family, Include

SQUARE = "vision_config.hidden_size * downsample_factor ** 2"

FAMILY = Family(
    name="aya_vision",
    types={"aya_vision": {}},
    rows=(
        *language_model("cohere2"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        projector("layernorm", "layernorm", SQUARE, bias="True"),
        projector("linear_1", "linear_1", f"alignment_intermediate_size, {SQUARE}", bias="True"),
        projector("linear_2", "linear_2", "text_config.hidden_size, alignment_intermediate_size // 2", bias="True"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "downsample_factor": 2,
        "text_config": {},
        "vision_config": {"hidden_size": 1152},
        "tie_word_embeddings": True,
    },
    derived={"alignment_intermediate_size": "text_config.hidden_size"},
)
