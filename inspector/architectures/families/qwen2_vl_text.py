"""Model types qwen2_vl_text, qwen2_5_vl_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="qwen2_vl_text",
    types={"qwen2_vl_text": {}, "qwen2_5_vl_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, hidden_size"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "norm", "hidden_size"),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    defaults={
        "hidden_size": 8192,
        "intermediate_size": 29568,
        "num_attention_heads": 64,
        "num_hidden_layers": 80,
        "num_key_value_heads": 8,
        "vocab_size": 152064,
    },
    gguf=("qwen2vl",),
    head="Model",
)
