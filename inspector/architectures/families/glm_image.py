"""Model type glm_image: text_config, vision_config, vq_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="glm_image",
    types={"glm_image": {}},
    rows=(
        Include("text_config", "language_model.", head="Model", default_type="glm_image_text"),
        Include("vision_config", "visual.", tower="vision", head="Model", default_type="glm_image_vision"),
        Include("vq_config", "vqmodel.", tower="vq", head="GlmImageVQVAE", default_type="glm_image_vqmodel"),
    ),
    head="Model",
)
