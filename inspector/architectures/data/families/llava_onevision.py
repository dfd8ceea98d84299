"""LLaVA-OneVision: LLaVA-NeXT with Qwen2 and SigLIP."""

from __future__ import annotations

from inspector.architectures.data.families.shared import TWO_LAYER_PROJECTOR, language_model
from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="llava_onevision",
    types={"llava_onevision": {}},
    rows=(
        *language_model("qwen2"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        *TWO_LAYER_PROJECTOR,
        Row("image_newline", "image_newline", "text_config.hidden_size", leaf="", tower="projector"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "multimodal_projector_bias": True,
        "text_config": {},
        "vision_config": {"hidden_size": 1152},
        "vision_feature_layer": -1,
        "tie_word_embeddings": False,
    },
)
