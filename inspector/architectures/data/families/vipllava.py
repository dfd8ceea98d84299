"""ViP-LLaVA: LLaVA that looks at several layers of its tower at once."""

from __future__ import annotations

from inspector.architectures.data.families.shared import language_model, projector
from inspector.architectures.table import Family, Include

FEATURES = "count(vision_feature_layers) * vision_config.hidden_size"

FAMILY = Family(
    name="vipllava",
    types={"vipllava": {}},
    rows=(
        *language_model("llama"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="clip_vision_model"),
        projector("projector_layernorm", "projector_layernorm", FEATURES, bias="True"),
        projector("linear_1", "linear_1", f"text_config.hidden_size, {FEATURES}", bias="True"),
        projector("linear_2", "linear_2", "text_config.hidden_size, text_config.hidden_size", bias="True"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "text_config": {},
        "vision_config": {"hidden_size": 1024},
        "vision_feature_layers": [-2, -5, -8, -11, 6],
        "tie_word_embeddings": False,
    },
)
