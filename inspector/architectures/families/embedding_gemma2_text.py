"""Model type embedding_gemma2_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="embedding_gemma2_text",
    types={"embedding_gemma2_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row("embedding_projection", "embedding_projection", "embedding_dim, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "(num_attention_heads * head_dim if layer < num_attention_heads else 2 * num_attention_heads * head_dim) if layer == place(layer_types, 'full_attention') else num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, (num_attention_heads * head_dim if layer < num_attention_heads else 2 * num_attention_heads * head_dim) if layer == place(layer_types, 'full_attention') else num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row(
            "per_layer_input_gate",
            LAYER + ".ple_block.per_layer_input_gate",
            "hidden_size_per_layer_input, hidden_size",
        ),
        Row(
            "per_layer_projection",
            LAYER + ".ple_block.per_layer_projection",
            "hidden_size, hidden_size_per_layer_input",
        ),
        Row("post_per_layer_input_norm", LAYER + ".ple_block.post_per_layer_input_norm", "hidden_size"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim if layer_types[layer] == 'sliding_attention' else 512"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim if layer_types[layer] == 'sliding_attention' else 512"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("norm", "norm", "hidden_size"),
        Row(
            "per_layer_model_projection",
            "ple.per_layer_model_projection",
            "num_hidden_layers * hidden_size_per_layer_input, hidden_size",
        ),
        Row("per_layer_projection_norm", "ple.per_layer_projection_norm", "hidden_size_per_layer_input"),
        Row("layer_scalar", LAYER + ".layer_scalar", "1", leaf="", buffer=True, persistent=True),
    ),
    defaults={
        "attention_bias": False,
        "embedding_dim": 768,
        "head_dim": 256,
        "hidden_size": 512,
        "hidden_size_per_layer_input": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 4,
        "num_hidden_layers": 24,
        "num_key_value_heads": 2,
        "vocab_size": 262144,
    },
    derived={
        "layer_types": "['full_attention' if (layer + 1) % num_hidden_layers == 0 or (layer + 1) % 2 == 0 and (layer + 1) % 3 == 0 else 'sliding_attention' for layer in range(num_hidden_layers)]"
    },
    head="Model",
)
