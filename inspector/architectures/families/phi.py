"""Model type phi.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="phi",
    types={"phi": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.dense", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row(
            "q_norm",
            LAYER + ".self_attn.q_layernorm",
            "hidden_size // num_attention_heads",
            bias="True",
            when="qk_layernorm",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.k_layernorm",
            "hidden_size // num_attention_heads",
            bias="True",
            when="qk_layernorm",
        ),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "model.final_layernorm", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("lm_head", "lm_head", "vocab_size", heads="ForCausalLM", leaf="bias"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_attention_heads": 32,
        "num_hidden_layers": 24,
        "qk_layernorm": False,
        "tie_word_embeddings": False,
        "vocab_size": 51200,
    },
    derived={"num_key_value_heads": "num_attention_heads", "head_dim": "hidden_size // num_attention_heads"},
    gguf=("phi2",),
)
