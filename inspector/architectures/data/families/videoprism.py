"""VideoPrism with texts: a tower for videos and one for what is said of them."""

from __future__ import annotations

from inspector.architectures.data.families.videoprism_vision_model import VIDEO
from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="videoprism",
    types={"videoprism": {}},
    rows=(
        Include("vision_config", "video_model.", tower="vision", head=VIDEO, default_type="videoprism_vision_model"),
        Include("text_config", "text_model.", head="Model", default_type="videoprism_text_model"),
    ),
    head="Model",
)
