"""Model type deepseek_v2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<n_routed_experts}"

FAMILY = Family(
    name="deepseek_v2",
    types={"deepseek_v2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * qk_head_dim, hidden_size",
            when="q_lora_rank is None",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * v_head_dim",
            bias="attention_bias",
        ),
        Row(
            "q_a_proj",
            LAYER + ".self_attn.q_a_proj",
            "q_lora_rank, hidden_size",
            bias="attention_bias",
            when="q_lora_rank is not None",
        ),
        Row("q_a_layernorm", LAYER + ".self_attn.q_a_layernorm", "q_lora_rank", when="q_lora_rank is not None"),
        Row(
            "q_b_proj",
            LAYER + ".self_attn.q_b_proj",
            "num_attention_heads * qk_head_dim, q_lora_rank",
            when="q_lora_rank is not None",
        ),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".self_attn.kv_a_proj_with_mqa",
            "head_dim + kv_lora_rank, hidden_size",
            bias="attention_bias",
        ),
        Row("kv_a_layernorm", LAYER + ".self_attn.kv_a_layernorm", "kv_lora_rank"),
        Row(
            "kv_b_proj",
            LAYER + ".self_attn.kv_b_proj",
            "num_attention_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when="layer >= first_k_dense_replace"),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when="layer >= first_k_dense_replace",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            bias="attention_bias",
            when="layer < first_k_dense_replace",
        ),
        Row(
            "up_proj", EXPERT + ".up_proj", "moe_intermediate_size, hidden_size", when="layer >= first_k_dense_replace"
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            bias="attention_bias",
            when="layer < first_k_dense_replace",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when="layer >= first_k_dense_replace",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            bias="attention_bias",
            when="layer < first_k_dense_replace",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_experts.gate_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            bias="mlp_bias",
            when="layer >= first_k_dense_replace",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            bias="mlp_bias",
            when="layer >= first_k_dense_replace",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, n_shared_experts * moe_intermediate_size",
            bias="mlp_bias",
            when="layer >= first_k_dense_replace",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "first_k_dense_replace": 0,
        "head_dim": 64,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "kv_lora_rank": 512,
        "mlp_bias": False,
        "moe_intermediate_size": 1407,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 102400,
    },
    derived={"qk_head_dim": "head_dim + qk_nope_head_dim"},
    fields={"num_experts": "n_routed_experts"},
    gguf=("deepseek", "deepseek2-ocr"),
)
