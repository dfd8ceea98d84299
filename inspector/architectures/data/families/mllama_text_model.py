"""Llama 3.2 Vision's text model: Llama with layers that attend to the image in place of the text."""

from __future__ import annotations

from inspector.architectures.data.families.shared import LAYER, gated
from inspector.architectures.table import Family, Row

SELF, CROSS = "layer not in cross_attention_layers", "layer in cross_attention_layers"
HEADS, KEYS = "num_attention_heads * head_dim, hidden_size", "num_key_value_heads * head_dim, hidden_size"
OUT = "hidden_size, num_attention_heads * head_dim"
ATTENTION, CROSS_ATTENTION = LAYER + ".self_attn", LAYER + ".cross_attn"

FAMILY = Family(
    name="mllama_text_model",
    types={"mllama_text_model": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size + 8, hidden_size"),  # the image's own tokens
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", ATTENTION + ".q_proj", HEADS, when=SELF),
        Row("k_proj", ATTENTION + ".k_proj", KEYS, when=SELF),
        Row("v_proj", ATTENTION + ".v_proj", KEYS, when=SELF),
        Row("o_proj", ATTENTION + ".o_proj", OUT, when=SELF),
        Row("cross_q_proj", CROSS_ATTENTION + ".q_proj", HEADS, when=CROSS),
        Row("cross_k_proj", CROSS_ATTENTION + ".k_proj", KEYS, when=CROSS),
        Row("cross_v_proj", CROSS_ATTENTION + ".v_proj", KEYS, when=CROSS),
        Row("cross_o_proj", CROSS_ATTENTION + ".o_proj", OUT, when=CROSS),
        Row("q_norm", CROSS_ATTENTION + ".q_norm", "head_dim", when=CROSS),
        Row("k_norm", CROSS_ATTENTION + ".k_norm", "head_dim", when=CROSS),
        Row("cross_attn_gate", LAYER + ".cross_attn_attn_gate", "1", when=CROSS, leaf="", group="attention"),
        Row("cross_mlp_gate", LAYER + ".cross_attn_mlp_gate", "1", when=CROSS, leaf="", group="feed_forward"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        *gated(LAYER + ".mlp", "intermediate_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),  # never tied: it has fewer rows
    ),
    prefix="model.",
    defaults={
        "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38],
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_hidden_layers": 40,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
)
