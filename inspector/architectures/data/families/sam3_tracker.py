"""SAM 3's tracker: Segment Anything 2's over the features of SAM 3's detector, which have a neck of their own."""

from __future__ import annotations

from inspector.architectures.data.families.sam2 import DEFAULTS, DERIVED, masks
from inspector.architectures.data.families.sam3_vision_model import SCALE_FACTORS, neck
from inspector.architectures.table import Family, Include

TRACKER = "tracker_model."
#: Suffixes of the classes that have a vision tower; as a part of SAM 3's video model the tracker has none.
SEES = "Model Picture"

FAMILY = Family(
    name="sam3_tracker",
    types={"sam3_tracker": {}, "sam3_tracker_video": {}},
    rows=(
        Include(
            "vision_config",
            TRACKER + "detector_model.vision_encoder.",
            tower="vision",
            head="Model",
            default_type="sam3_vision_model",
            heads=SEES,
            without="proj1 proj2 scale_layers",
        ),
        *neck(TRACKER + "tracker_neck.", "vision_config.", SEES),
        *masks(TRACKER),
    ),
    classes={"Sam3TrackerModel": "Picture"},
    head="Model",
    defaults={**DEFAULTS, "vision_config": {"fpn_hidden_size": 256, "scale_factors": SCALE_FACTORS}},
    derived=DERIVED,
)
