"""EdgeTAM: SAM 2's prompts and masks over a tower for small devices."""

from __future__ import annotations

from inspector.architectures.data.families.sam2 import FAMILY as SAM2
from inspector.architectures.table import Include, Row

FAMILY = SAM2._replace(
    name="edgetam",
    types={"edgetam": {}},
    rows=(
        Include("vision_config", "vision_encoder.", tower="vision", head="Model", default_type="edgetam_vision_model"),
        *(row for row in SAM2.rows if isinstance(row, Row) and not row.heads),
    ),
)
