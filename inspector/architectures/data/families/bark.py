"""Bark: three transformers one after another, and EnCodec."""

from __future__ import annotations

from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="bark",
    types={"bark": {}},
    rows=(
        Include("semantic_config", "semantic.", tower="semantic", head="Model", default_type="semantic"),
        Include(
            "coarse_acoustics_config",
            "coarse_acoustics.",
            tower="coarse_acoustics",
            head="Model",
            default_type="coarse_acoustics",
        ),
        Include(
            "fine_acoustics_config",
            "fine_acoustics.",
            tower="fine_acoustics",
            head="Model",
            default_type="fine_acoustics",
        ),
        Include("codec_config", "codec_model.", tower="audio", head="Model", default_type="encodec"),
    ),
    head="Model",
)
