"""Model type starcoder2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="starcoder2",
    types={"starcoder2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="use_bias"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="use_bias"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="use_bias"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="use_bias"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.c_fc", "intermediate_size, hidden_size", bias="use_bias"),
        Row("down_proj", LAYER + ".mlp.c_proj", "hidden_size, intermediate_size", bias="use_bias"),
        Row("norm", "model.norm", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "hidden_size": 3072,
        "intermediate_size": 12288,
        "num_attention_heads": 24,
        "num_hidden_layers": 30,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
        "use_bias": True,
        "vocab_size": 49152,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    gguf=("starcoder2",),
)
