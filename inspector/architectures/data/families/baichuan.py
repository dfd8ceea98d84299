"""Baichuan 1 and 2, whose code comes with their checkpoints: Llama with a fused W_pack."""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_DEFAULTS, EMBED_TOKENS, FEED_FORWARD, LAYER, NORMS
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="baichuan",
    types={"baichuan": {}, "baichuan2": {}},
    rows=(
        EMBED_TOKENS,
        Row("qkv_proj", LAYER + ".self_attn.W_pack", "3 * hidden_size, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, hidden_size"),
        Row(
            "inv_freq",
            LAYER + ".self_attn.rotary_emb.inv_freq",
            "hidden_size // num_attention_heads // 2",
            leaf="",
            buffer=True,
        ),
        *FEED_FORWARD,
        *NORMS,
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults=DECODER_DEFAULTS,
)
