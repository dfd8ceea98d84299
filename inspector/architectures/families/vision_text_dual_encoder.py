"""Model type vision-text-dual-encoder: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="vision-text-dual-encoder",
    types={"vision-text-dual-encoder": {}},
    rows=(
        Include("text_config", "text_model.", head="Model", default_type="bert"),
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="vit"),
        Row("logit_scale", "logit_scale", "", leaf="", group="head"),
        Row("text_projection", "text_projection", "projection_dim, text_config.hidden_size"),
        Row("visual_projection", "visual_projection", "projection_dim, vision_config.hidden_size"),
    ),
    defaults={"projection_dim": 512, "text_config": {"hidden_size": 768}, "vision_config": {"hidden_size": 768}},
    head="Model",
)
