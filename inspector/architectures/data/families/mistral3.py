"""Mistral 3: Mistral's text model, Pixtral's tower, and a projector that merges squares of patches."""

from __future__ import annotations

from inspector.architectures.data.families.shared import TWO_LAYER_PROJECTOR, language_model, projector
from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="mistral3",
    types={"mistral3": {}},
    rows=(
        *language_model("mistral"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="pixtral"),
        projector("norm", "norm", "vision_config.hidden_size"),
        projector(
            "patch_merger",
            "patch_merger.merging_layer",
            "vision_config.hidden_size, vision_config.hidden_size * spatial_merge_size ** 2",
        ),
        *TWO_LAYER_PROJECTOR,
    ),
    head="ForConditionalGeneration",
    defaults={
        "multimodal_projector_bias": False,
        "spatial_merge_size": 2,
        "text_config": {"hidden_size": 5120, "vocab_size": 131072},
        "vision_config": {"hidden_size": 1024},
        "vision_feature_layer": -1,
        "tie_word_embeddings": True,
    },
)
