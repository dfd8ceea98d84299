"""LLaVA, LLaVA-NeXT and LLaVA-OneVision: a text model, CLIP's or SigLIP's tower, and two layers between them."""

from __future__ import annotations

from inspector.architectures.data.families.shared import TWO_LAYER_PROJECTOR, language_model
from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="llava",
    types={"llava": {}, "llava_next": {"newline": True}, "llava_next_video": {"newline": True}},
    rows=(
        *language_model("llama"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="clip_vision_model"),
        *TWO_LAYER_PROJECTOR,
        Row("image_newline", "image_newline", "text_config.hidden_size", when="newline", leaf="", tower="projector"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "multimodal_projector_bias": True,
        "newline": False,
        "text_config": {},
        "vision_config": {"hidden_size": 1024},
        "vision_feature_layer": -2,
        "tie_word_embeddings": False,
    },
)
