"""Model type minimax_m2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.block_sparse_moe.experts.{expert<num_local_experts}"

FAMILY = Family(
    name="minimax_m2",
    types={"minimax_m2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "num_attention_heads * head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "num_key_value_heads * head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".block_sparse_moe.gate", "num_local_experts, hidden_size"),
        Row("router_bias", LAYER + ".block_sparse_moe.e_score_correction_bias", "num_local_experts", leaf=""),
        Row("gate_proj", EXPERT + ".w1", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "head_dim": 128,
        "hidden_size": 3072,
        "intermediate_size": 1536,
        "num_attention_heads": 48,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 62,
        "num_key_value_heads": 8,
        "num_local_experts": 256,
        "tie_word_embeddings": False,
        "vocab_size": 200064,
    },
    fields={"num_experts": "num_local_experts"},
    gguf=("minimax-m2",),
)
