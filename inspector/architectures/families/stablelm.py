"""Model type stablelm.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="stablelm",
    types={"stablelm": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="use_qkv_bias"),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="use_qkv_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="use_qkv_bias",
        ),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, hidden_size"),
        Row(
            "norms",
            LAYER + ".self_attn.q_layernorm.norms.{norm<num_attention_heads}",
            "head_dim",
            when="qk_layernorm",
        ),
        Row(
            "k_layernorm_norms",
            LAYER + ".self_attn.k_layernorm.norms.{norm<num_key_value_heads}",
            "head_dim",
            when="qk_layernorm",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "hidden_size",
            bias="True",
            when="not use_parallel_residual",
        ),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "model.norm", "hidden_size", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    prefix="model.",
    defaults={
        "hidden_size": 2560,
        "intermediate_size": 6912,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 32,
        "qk_layernorm": False,
        "tie_word_embeddings": False,
        "use_parallel_residual": False,
        "use_qkv_bias": False,
        "vocab_size": 50304,
    },
    gguf=("stablelm",),
)
