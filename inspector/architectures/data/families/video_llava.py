"""Video-LLaVA: LLaVA with one tower for images and one for videos."""

from __future__ import annotations

from inspector.architectures.data.families.shared import TWO_LAYER_PROJECTOR, language_model
from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="video_llava",
    types={"video_llava": {}},
    rows=(
        *language_model("llama"),
        Include("vision_config", "image_tower.", tower="vision", head="Model", default_type="clip_vision_model"),
        Include("vision_config", "video_tower.", tower="video", head="Model", default_type="clip_vision_model"),
        *TWO_LAYER_PROJECTOR,
    ),
    head="ForConditionalGeneration",
    defaults={
        "multimodal_projector_bias": True,
        "text_config": {},
        "vision_config": {"hidden_size": 1024},
        "vision_feature_layer": -2,
        "tie_word_embeddings": False,
    },
)
