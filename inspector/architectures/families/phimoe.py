"""Model type phimoe.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.block_sparse_moe.experts.{expert<num_local_experts}"

FAMILY = Family(
    name="phimoe",
    types={"phimoe": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("router", LAYER + ".block_sparse_moe.gate", "num_local_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".w1", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row("norm", "model.norm", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("lm_head", "lm_head", "vocab_size", when="lm_head_bias", heads="ForCausalLM", leaf="bias"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 6400,
        "lm_head_bias": False,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "num_local_experts": 16,
        "tie_word_embeddings": False,
        "vocab_size": 32064,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    gguf=("phimoe",),
)
