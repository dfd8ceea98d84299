"""Qwen3's mixtures, with a norm of queries and keys; Qwen3-Omni's text model is one."""

from __future__ import annotations

from inspector.architectures.data.families.shared import ATTENTION, DECODER_HEADS, EMBED_TOKENS, LAYER, NORMS, gated
from inspector.architectures.table import Family, Row

SPARSE = "layer not in mlp_only_layers and num_local_experts > 0 and (layer + 1) % decoder_sparse_step == 0"
EXPERT = LAYER + ".mlp.experts.{expert<num_local_experts}"

FAMILY = Family(
    name="qwen3_moe",
    types={
        "qwen3_moe": {},
        "qwen3_omni_moe_text": {
            "intermediate_size": 18944,
            "num_attention_heads": 28,
            "num_hidden_layers": 28,
            "vocab_size": 3584,
        },
    },
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        Row("router", LAYER + ".mlp.gate", "num_local_experts, hidden_size", when=SPARSE),
        *gated(EXPERT, "moe_intermediate_size", when=SPARSE, active="num_experts_per_tok"),
        *gated(LAYER + ".mlp", "intermediate_size", when=f"not ({SPARSE})"),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    prefixes={"ForQuestionAnswering": "transformer."},
    defaults={
        "attention_bias": False,
        "decoder_sparse_step": 1,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "mlp_only_layers": [],
        "moe_intermediate_size": 768,
        "norm_bias": False,
        "num_attention_heads": 32,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 24,
        "num_key_value_heads": 4,
        "num_local_experts": 128,
        "qk_norm": True,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "o_bias": "attention_bias",
        "qkv_bias": "attention_bias",
    },
    fields={"num_experts": "num_local_experts"},
)
