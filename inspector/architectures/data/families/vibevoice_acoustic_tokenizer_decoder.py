"""The decoder of VibeVoice's acoustic tokenizer alone, with its stages' depths in its own order."""

from __future__ import annotations

from inspector.architectures.data.families.vibevoice_acoustic_tokenizer_encoder import SIZES, decoder
from inspector.architectures.table import Family

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer_decoder",
    types={"vibevoice_acoustic_tokenizer_decoder": {}},
    rows=tuple(decoder()),
    head="Model",
    defaults=SIZES,
)
