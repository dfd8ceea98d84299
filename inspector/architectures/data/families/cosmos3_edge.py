"""Cosmos 3 Edge: a vision tower, a projector, and the text model, published without a name before its layers."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

TEXT = Include("text_config", "", head="Published", default_type="cosmos3_edge_text", heads="ForConditionalGeneration")

FAMILY = Family(
    name="cosmos3_edge",
    types={"cosmos3_edge": {}},
    rows=(
        Include("vision_config", "model.visual.", tower="vision", head="Published", default_type="cosmos3_edge_vision"),
        Row("norm", "model.projector.norm", "vision_config.hidden_size", bias="True", tower="projector"),
        Row(
            "linear_fc1",
            "model.projector.linear_fc1",
            "projector_hidden_size, vision_config.hidden_size * vision_config.spatial_merge_size ** 2",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_fc2",
            "model.projector.linear_fc2",
            "text_config.hidden_size, projector_hidden_size",
            bias="True",
            tower="projector",
        ),
        TEXT,
        TEXT._replace(prefix="language_model.", heads="Model"),
        Row("lm_head", "lm_head", "text_config.vocab_size, text_config.hidden_size", heads="ForConditionalGeneration"),
    ),
    prefix="model.",
    defaults={"projector_hidden_size": 11520, "text_config": {}, "vision_config": {}},
    head="ForConditionalGeneration",
)
