"""ALIGN: BERT and EfficientNet, the text projected to where the images' features are."""

from __future__ import annotations

from inspector.architectures.data.families.efficientnet import FAMILY as EFFICIENTNET
from inspector.architectures.table import Family, Include, Row

TEXT = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}

FAMILY = Family(
    name="align",
    types={"align": {}},
    rows=(
        Include("text_config", "text_model.", head="Model", default_type="align_text_model", defaults=TEXT),
        Include(
            "vision_config",
            "vision_model.",
            tower="vision",
            head="Model",
            default_type="align_vision_model",
            defaults=EFFICIENTNET.defaults,
        ),
        Row("text_projection", "text_projection", "projection_dim, text_config.hidden_size", bias="True"),
        Row("temperature", "temperature", "", leaf=""),
    ),
    head="Model",
    defaults={"projection_dim": 640, "text_config": TEXT},
)
