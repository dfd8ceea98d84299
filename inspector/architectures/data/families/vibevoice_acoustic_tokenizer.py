"""VibeVoice's acoustic tokenizer: an encoder and a decoder that mirrors it."""

from __future__ import annotations

from inspector.architectures.data.families.vibevoice_acoustic_tokenizer_encoder import SIZES, decoder, encoder
from inspector.architectures.table import Family

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer",
    types={"vibevoice_acoustic_tokenizer": {}},
    rows=(
        *encoder("encoder.", "encoder"),
        *decoder("decoder.", "decoder", first="depths[-1]", further="depths[-2 - layer]"),
    ),
    head="Model",
    defaults=SIZES,
)
