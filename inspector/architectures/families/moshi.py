"""Model type moshi.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="moshi",
    types={"moshi": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size + 1, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "linear",
            LAYER + ".self_attn.q_proj.linear",
            "num_attention_heads * head_dim, hidden_size",
            group="attention",
        ),
        Row("k_proj_linear", LAYER + ".self_attn.k_proj.linear", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj_linear", LAYER + ".self_attn.v_proj.linear", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj_linear", LAYER + ".self_attn.o_proj.linear", "hidden_size, num_attention_heads * head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("up_proj", LAYER + ".mlp.fc1", "ffn_dim, hidden_size"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, ffn_dim // 2"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM"),
    ),
    prefix="model.",
    defaults={
        "ffn_dim": 22528,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "vocab_size": 32000,
    },
    derived={"head_dim": "hidden_size // num_attention_heads", "num_key_value_heads": "num_attention_heads"},
)
