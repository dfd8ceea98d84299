"""FastSpeech 2 with conformer layers, and its vocoder: each by its own table."""

from __future__ import annotations

from inspector.architectures.table import Family, Include

FAMILY = Family(
    name="fastspeech2_conformer_with_hifigan",
    types={"fastspeech2_conformer_with_hifigan": {}},
    rows=(
        Include("model_config", "model.", head="Model", default_type="fastspeech2_conformer"),
        Include(
            "vocoder_config",
            "vocoder.",
            tower="vocoder",
            head="Model",
            default_type="fastspeech2_conformer_hifigan",
        ),
    ),
    head="Model",
)
