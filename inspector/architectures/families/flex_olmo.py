"""Model type flex_olmo.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="flex_olmo",
    types={"flex_olmo": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
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
        Row("q_norm", LAYER + ".self_attn.q_norm", "num_attention_heads * head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "num_key_value_heads * head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".gate_proj", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".up_proj", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".down_proj", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_attention_heads": 32,
        "num_experts": 7,
        "num_experts_per_tok": 5,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
        "vocab_size": 100352,
    },
    derived={"num_key_value_heads": "num_attention_heads", "head_dim": "hidden_size // num_attention_heads"},
    fields={"num_local_experts": "num_experts"},
)
