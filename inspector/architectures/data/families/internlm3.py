"""InternLM3: Llama; the code that came with its checkpoints has other switches for the biases."""

from __future__ import annotations

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

FAMILY = Family(
    name="internlm3",
    types={"internlm3": {}},
    rows=(EMBED_TOKENS, *ATTENTION, *FEED_FORWARD, *NORMS, *DECODER_HEADS),
    prefix="model.",
    defaults={
        **{field: value for field, value in DECODER_DEFAULTS.items() if field != "mlp_bias"},
        "vocab_size": 128512,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "bias": False,
    },
    derived={**DECODER_DERIVED, "o_bias": "bias or attention_bias", "mlp_bias": "bias"},
)
