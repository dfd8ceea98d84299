"""data2vec's vision model: BEiT under another name."""

from __future__ import annotations

from inspector.architectures.data.families.beit import DEFAULTS, DERIVED, IMAGES, body, outside, segmentation
from inspector.architectures.data.families.upernet import Words
from inspector.architectures.table import Family

FAMILY = Family(
    name="data2vec-vision",
    types={"data2vec-vision": {}},
    rows=(
        *body("data2vec_vision.", IMAGES),
        *outside("data2vec_vision.", "norm"),
        *segmentation(
            Words(
                "convolution",
                "normalization",
                "psp_modules.blocks.{layer<len(pool_scales)}.conv",
                "psp_bottleneck",
            )
        ),
    ),
    prefix="data2vec_vision.",
    defaults=DEFAULTS,
    derived=DERIVED,
    head="Model",
)
