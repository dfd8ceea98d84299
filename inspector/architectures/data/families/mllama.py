"""Llama 3.2 Vision: a text model that attends to the image, a tower of two transformers, one layer between them."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model
from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="mllama",
    types={"mllama": {}},
    rows=(
        *language_model("mllama_text_model", tied="False"),  # the head has fewer rows than the embedding
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="mllama_vision_model"),
        Row(
            "multi_modal_projector",
            "multi_modal_projector",
            "text_config.hidden_size, vision_config.vision_output_dim",
            bias="True",
            tower="projector",
        ),
    ),
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "vision_config": {"vision_output_dim": 7680}},
)
