"""Phi-4 multimodal's vision tower, SigLIP's."""

from __future__ import annotations

from inspector.architectures.data.families.siglip_vision_model import FAMILY as SIGLIP
from inspector.architectures.table import Family

FAMILY = Family(
    name="phi4_multimodal_vision",
    types={"phi4_multimodal_vision": {}},
    rows=SIGLIP.rows,
    defaults={
        "hidden_size": 1152,
        "image_size": 448,
        "intermediate_size": 4304,
        "num_channels": 3,
        "num_hidden_layers": 27,
        "patch_size": 14,
        "vision_use_head": True,
    },
    head="Model",
)
