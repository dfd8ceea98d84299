"""StableLM: Llama with norms that have a shift, and where asked for one norm for attention and feed-forward."""

from __future__ import annotations

from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_HEADS,
    EMBED_TOKENS,
    FEED_FORWARD,
    LAYER,
    NORMS,
)
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="stablelm",
    types={"stablelm": {}, "stablelm_epoch": {}},
    rows=(
        EMBED_TOKENS,
        *(row for row in ATTENTION if row.role not in ("q_norm", "k_norm")),
        Row(
            "q_norm", LAYER + ".self_attn.q_layernorm.norms.{head<num_attention_heads}", "head_dim", when="qk_layernorm"
        ),
        Row(
            "k_norm", LAYER + ".self_attn.k_layernorm.norms.{head<num_key_value_heads}", "head_dim", when="qk_layernorm"
        ),
        *FEED_FORWARD,
        *(row for row in NORMS if row.role != "post_attention_layernorm"),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "hidden_size",
            bias="True",
            when="not use_parallel_residual",
        ),
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        "hidden_size": 2560,
        "intermediate_size": 6912,
        "norm_bias": True,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 32,
        "o_bias": False,
        "qk_layernorm": False,
        "use_parallel_residual": False,
        "use_qkv_bias": False,
        "vocab_size": 50304,
    },
    derived={"head_dim": "hidden_size // num_attention_heads", "qkv_bias": "use_qkv_bias"},
)
