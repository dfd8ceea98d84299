"""Model type cohere2_moe.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="cohere2_moe",
    types={"cohere2_moe": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("router", LAYER + ".mlp.gate", "num_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".gate_proj", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".up_proj", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".down_proj", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_experts.gate_proj",
            "intermediate_size, hidden_size",
            when="num_shared_experts",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "intermediate_size, hidden_size",
            when="num_shared_experts",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, intermediate_size",
            when="num_shared_experts",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 8192,
        "intermediate_size": 22528,
        "num_attention_heads": 64,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 40,
        "num_shared_experts": 0,
        "tie_word_embeddings": True,
        "vocab_size": 256000,
    },
    derived={"num_key_value_heads": "num_attention_heads"},
)
