"""SAM 3 for video: the detector, and the tracker over the detector's features."""

from __future__ import annotations

from inspector.architectures.data.families.sam3_vision_model import SCALE_FACTORS, neck
from inspector.architectures.table import Family, Include

VIDEO = "Model"

FAMILY = Family(
    name="sam3_video",
    types={"sam3_video": {}},
    rows=(
        Include("detector_config", "detector_model.", tower="detector", head="Model", default_type="sam3", heads=VIDEO),
        *neck("tracker_neck.", "detector_config.vision_config.", VIDEO, "tracker"),
        Include(
            "tracker_config",
            "tracker_model.",
            tower="tracker",
            head="Part",
            default_type="sam3_tracker_video",
            heads=VIDEO,
        ),
        Include(
            "tracker_config", "", tower="tracker", head="Picture", default_type="sam3_tracker_video", heads="Picture"
        ),
    ),
    classes={"Sam3TrackerModel": "Picture"},
    head=VIDEO,
    defaults={"detector_config": {"vision_config": {"fpn_hidden_size": 256, "scale_factors": SCALE_FACTORS}}},
)
