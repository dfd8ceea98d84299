"""DeepSeek-V3 and R1: attention through low ranks, shared and routed experts, the first layers dense.

The layer that predicts the token after next follows the others, and is not part of Transformers' model.
"""

from __future__ import annotations

from inspector.architectures.families.shared import (
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    LAYER,
    NORMS,
)
from inspector.architectures.table import Family, Row

ATTN = LAYER + ".self_attn"
EXPERT = LAYER + ".mlp.experts.{expert<n_routed_experts}"
SHARED = LAYER + ".mlp.shared_experts"
DENSE = "layer < first_k_dense_replace"
SPARSE = "layer >= first_k_dense_replace"
WIDTH = "moe_intermediate_size * n_shared_experts"

FAMILY = Family(
    name="deepseek_v3",
    types={"deepseek_v3": {}},
    rows=(
        EMBED_TOKENS,
        Row("q_proj", ATTN + ".q_proj", "num_attention_heads * qk_head_dim, hidden_size", when="not q_lora_rank"),
        Row("q_a_proj", ATTN + ".q_a_proj", "q_lora_rank, hidden_size", bias="attention_bias", when="q_lora_rank"),
        Row("q_a_layernorm", ATTN + ".q_a_layernorm", "q_lora_rank", when="q_lora_rank"),
        Row("q_b_proj", ATTN + ".q_b_proj", "num_attention_heads * qk_head_dim, q_lora_rank", when="q_lora_rank"),
        Row(
            "kv_a_proj_with_mqa",
            ATTN + ".kv_a_proj_with_mqa",
            "kv_lora_rank + qk_rope_head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row("kv_a_layernorm", ATTN + ".kv_a_layernorm", "kv_lora_rank"),
        Row("kv_b_proj", ATTN + ".kv_b_proj", "num_attention_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank"),
        Row("o_proj", ATTN + ".o_proj", "hidden_size, num_attention_heads * v_head_dim", bias="attention_bias"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", when=DENSE),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", when=DENSE),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", when=DENSE),
        Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when=SPARSE),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.e_score_correction_bias",
            "n_routed_experts",
            when=SPARSE,
            leaf="",
            buffer=True,
        ),
        Row("shared_gate_proj", SHARED + ".gate_proj", f"{WIDTH}, hidden_size", when=SPARSE),
        Row("shared_up_proj", SHARED + ".up_proj", f"{WIDTH}, hidden_size", when=SPARSE),
        Row("shared_down_proj", SHARED + ".down_proj", f"hidden_size, {WIDTH}", when=SPARSE),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when=SPARSE,
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "moe_intermediate_size, hidden_size",
            when=SPARSE,
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when=SPARSE,
            active="num_experts_per_tok",
        ),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        "first_k_dense_replace": 3,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 2048,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "q_lora_rank": None,
    },
    derived={"num_labels": DECODER_DERIVED["num_labels"], "qk_head_dim": "qk_nope_head_dim + qk_rope_head_dim"},
)
