"""Mistral: Llama, but for the names that a class for answering questions gives its body."""

from __future__ import annotations

from inspector.architectures.data.families.llama import LLAMA_7B
from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    FEED_FORWARD,
    NORMS,
)
from inspector.architectures.table import Family

MISTRAL_7B = {"num_key_value_heads": 8, "intermediate_size": 14336}

FAMILY = Family(
    name="mistral",
    types={"mistral": MISTRAL_7B, "bidir_mistral": MISTRAL_7B},  # the second is NV-Embed's text model
    rows=(EMBED_TOKENS, *ATTENTION, *FEED_FORWARD, *NORMS, *DECODER_HEADS),
    prefix="model.",
    defaults={**DECODER_DEFAULTS, **LLAMA_7B},
    derived=DECODER_DERIVED,
)
