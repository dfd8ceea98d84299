"""Model type persimmon.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="persimmon",
    types={"persimmon": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".self_attn.query_key_value", "3 * hidden_size, hidden_size", bias="True"),
        Row(
            "o_proj",
            LAYER + ".self_attn.dense",
            "hidden_size, hidden_size // num_attention_heads * num_attention_heads",
            bias="True",
        ),
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
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.dense_h_to_4h", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.dense_4h_to_h", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "model.final_layernorm", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "hidden_size": 4096,
        "intermediate_size": 16384,
        "num_attention_heads": 64,
        "num_hidden_layers": 36,
        "qk_layernorm": True,
        "tie_word_embeddings": False,
        "vocab_size": 262144,
    },
)
