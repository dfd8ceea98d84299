"""Model type muse_glimmer_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="muse_glimmer_text",
    types={"muse_glimmer_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
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
        Row("mlp_gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".self_attn.gate_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("norm", "norm", "hidden_size"),
    ),
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 6656,
        "intermediate_size": 19968,
        "num_attention_heads": 32,
        "num_hidden_layers": 52,
        "num_key_value_heads": 2,
        "vocab_size": 202048,
    },
    head="Model",
)
