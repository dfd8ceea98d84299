"""Model type muse_glimmer_assistant.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="muse_glimmer_assistant",
    types={"muse_glimmer_assistant": {}},
    rows=(
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "norm", "hidden_size"),
        Row("fc", "encoder.fc", "hidden_size, 5 * hidden_size"),
        Row("output_norm_enc", "encoder.output_norm_enc", "hidden_size"),
    ),
    defaults={
        "head_dim": 128,
        "hidden_size": 6656,
        "intermediate_size": 19968,
        "num_attention_heads": 32,
        "num_hidden_layers": 5,
        "num_key_value_heads": 8,
    },
    head="Model",
)
