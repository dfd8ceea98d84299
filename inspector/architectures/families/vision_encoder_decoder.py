"""Model type vision-encoder-decoder, one of `encoder_decoder`'s pairs."""

from __future__ import annotations

from inspector.architectures.families.encoder_decoder import pair

FAMILY = pair("vision-encoder-decoder", "vit")
