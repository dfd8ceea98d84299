"""Model type colpali: vlm_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="colpali",
    types={"colpali": {}},
    rows=(
        Include("vlm_config", "vlm.", tower="vlm", head="ForConditionalGeneration", default_type="paligemma"),
        Row(
            "embedding_proj_layer",
            "embedding_proj_layer",
            "embedding_dim, vlm_config.text_config.hidden_size",
            bias="True",
        ),
    ),
    prefix="vlm.",
    defaults={"embedding_dim": 128, "vlm_config": {"text_config": {"hidden_size": 2048}}},
    head="ForRetrieval",
)
