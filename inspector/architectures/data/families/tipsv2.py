"""TIPSv2: a tower for images and one for texts, and the temperature at which they are compared."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="tipsv2",
    types={"tipsv2": {}},
    rows=(
        Include("text_config", "text_encoder.", head="Model", default_type="tipsv2_text_model"),
        Include("vision_config", "vision_encoder.", tower="vision", head="Model", default_type="tipsv2_vision_model"),
        Row("temperature", "temperature", "", leaf=""),
    ),
    head="Model",
)
