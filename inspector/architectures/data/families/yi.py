"""Yi as it was first published, with code of its own: Llama with other names for the layers' norms."""

from __future__ import annotations

from inspector.architectures.data.families.llama import LLAMA_7B
from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    FEED_FORWARD,
    LAYER,
)
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="yi",
    types={"Yi": {"vocab_size": 64000}},
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        *FEED_FORWARD,
        Row("input_layernorm", LAYER + ".ln1", "hidden_size"),
        Row("post_attention_layernorm", LAYER + ".ln2", "hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={**DECODER_DEFAULTS, **LLAMA_7B},
    derived=DECODER_DERIVED,
)
