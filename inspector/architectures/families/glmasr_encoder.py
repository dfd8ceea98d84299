"""Model type glmasr_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="glmasr_encoder",
    types={"glmasr_encoder": {}},
    rows=(
        Row("embed_patches", "conv1", "hidden_size, num_mel_bins, 3", bias="True"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("conv2", "conv2", "hidden_size, hidden_size, 3", bias="True"),
        Row("norm", "norm", "hidden_size", bias="True"),
    ),
    classes={"GlmAsrEncoder": "GlmAsrEncoder"},
    defaults={
        "hidden_size": 1280,
        "intermediate_size": 5120,
        "num_attention_heads": 20,
        "num_hidden_layers": 32,
        "num_mel_bins": 128,
    },
    derived={"num_key_value_heads": "num_attention_heads", "head_dim": "hidden_size // num_attention_heads"},
    head="GlmAsrEncoder",
)
