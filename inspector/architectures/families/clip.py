"""Model type clip: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="clip",
    types={"clip": {}},
    rows=(
        Include("text_config", "text_model.", head="Model", default_type="clip_text_model", heads="Model"),
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="clip_vision_model"),
        Row("logit_scale", "logit_scale", "", heads="Model", leaf="", group="head"),
        Row("visual_projection", "visual_projection", "projection_dim, vision_config.hidden_size", heads="Model"),
        Row("text_projection", "text_projection", "projection_dim, text_config.hidden_size", heads="Model"),
        Row(
            "classifier",
            "classifier",
            "num_labels, vision_config.hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
    ),
    defaults={"projection_dim": 512, "text_config": {"hidden_size": 512}, "vision_config": {"hidden_size": 768}},
    head="Model",
)
