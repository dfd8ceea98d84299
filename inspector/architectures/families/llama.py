"""Llama and the decoders that differ from it by a column."""

from __future__ import annotations

from inspector.architectures.families.shared import (
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
    name="llama",
    types={
        "llama": {},
        "mistral": {"num_key_value_heads": 8},
        "mimo": {"qkv_bias": True, "o_bias": False},
        "qwen2": {"qkv_bias": True, "o_bias": False},
        "qwen3": {"qk_norm": True, "head_dim": 128},
        "gemma": {"tie_word_embeddings": True, "head_dim": 256, "num_key_value_heads": 16},
    },
    rows=(EMBED_TOKENS, *ATTENTION, *FEED_FORWARD, *NORMS, *DECODER_HEADS),
    prefix="model.",
    prefixes={"ForQuestionAnswering": "transformer."},  # modeling_llama.py: its base_model_prefix
    defaults=DECODER_DEFAULTS,
    derived=DECODER_DERIVED,
    gguf=("llama", "qwen2", "qwen3", "gemma"),
)
