"""Model type molmo2_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="molmo2_text",
    types={"molmo2_text": {}},
    rows=(
        Row("embedding", "wte.embedding", "501, hidden_size", leaf=""),
        Row("new_embedding", "wte.new_embedding", "501, hidden_size", leaf=""),
        Row("input_layernorm", LAYER + ".attn_norm", "hidden_size"),
        Row(
            "qkv_proj",
            LAYER + ".self_attn.att_proj",
            "head_dim * (num_attention_heads + 2 * num_key_value_heads), hidden_size",
            bias="attention_bias",
        ),
        Row("ff_out", LAYER + ".mlp.ff_out", "hidden_size, intermediate_size", group="feed_forward"),
        Row("ff_norm", LAYER + ".ff_norm", "hidden_size"),
        Row("attn_out", LAYER + ".self_attn.attn_out", "hidden_size, num_attention_heads * head_dim"),
        Row(
            "q_norm",
            LAYER + ".self_attn.q_norm",
            "head_dim if qk_norm_type == 'qwen3' else num_attention_heads * head_dim",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.k_norm",
            "head_dim if qk_norm_type == 'qwen3' else num_key_value_heads * head_dim",
        ),
        Row("gate_up_proj", LAYER + ".mlp.ff_proj", "2 * intermediate_size, hidden_size"),
        Row("norm", "norm", "hidden_size"),
    ),
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_attention_heads": 32,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "qk_norm_type": "qwen3",
    },
    fields={"qkv_bias": "attention_bias"},
    head="Model",
)
