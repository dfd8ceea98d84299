"""Model type colmodernvbert: vlm_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="colmodernvbert",
    types={"colmodernvbert": {}},
    rows=(
        Include("vlm_config", "vlm.", tower="vlm", head="Model", default_type="modernvbert"),
        Row(
            "embedding_proj_layer",
            "embedding_proj_layer",
            "embedding_dim, vlm_config.text_config.hidden_size",
            bias="True",
        ),
    ),
    prefix="vlm.",
    defaults={"embedding_dim": 128, "vlm_config": {"text_config": {"hidden_size": 768}}},
    head="ForRetrieval",
)
