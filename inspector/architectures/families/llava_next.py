"""Model types llava_next, llava_next_video: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="llava_next",
    types={"llava_next": {}, "llava_next_video": {}},
    rows=(
        Include(
            "text_config", "language_model.", head="ForCausalLM", default_type="llama", heads="ForConditionalGeneration"
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="llama", heads="Model"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="clip_vision_model"),
        Row("image_newline", "image_newline", "text_config.hidden_size", leaf=""),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, vision_config.hidden_size",
            bias="multimodal_projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="multimodal_projector_bias",
            tower="projector",
        ),
    ),
    prefix="image_newline.",
    prefixes={"Model": "image_newline."},
    defaults={
        "multimodal_projector_bias": True,
        "text_config": {"hidden_size": 4096},
        "vision_config": {"hidden_size": 1024},
    },
    head="ForConditionalGeneration",
)
