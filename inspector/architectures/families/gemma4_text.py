"""Model type gemma4_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="gemma4_text",
    types={"gemma4_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row(
            "embed_tokens_per_layer",
            "model.embed_tokens_per_layer",
            "vocab_size_per_layer_input, num_hidden_layers * hidden_size_per_layer_input",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "(num_attention_heads * head_dim if num_labels > 2 else num_attention_heads * sliding_window) if layer == place(layer_types, 'full_attention') else num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            heads="ForCausalLM",
        ),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim if layer_types[layer] == 'sliding_attention' else num_attention_heads * head_dim if num_labels > 2 else 4096, hidden_size",
            bias="attention_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim if layer_types[layer] == 'sliding_attention' else 2048 if num_key_value_heads > 3 else num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim if layer_types[layer] == 'sliding_attention' else 2048 if num_key_value_heads > 3 else num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'sliding_attention' or not attention_k_eq_v",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, (num_attention_heads * head_dim if num_labels > 2 else num_attention_heads * sliding_window) if layer == place(layer_types, 'full_attention') else num_attention_heads * head_dim",
            bias="attention_bias",
            heads="ForCausalLM",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim if layer_types[layer] == 'sliding_attention' else num_attention_heads * head_dim if num_labels > 2 else 4096",
            bias="attention_bias",
            heads="Model",
        ),
        Row("per_layer_input_gate", LAYER + ".per_layer_input_gate", "hidden_size_per_layer_input, hidden_size"),
        Row("per_layer_projection", LAYER + ".per_layer_projection", "hidden_size, hidden_size_per_layer_input"),
        Row("post_per_layer_input_norm", LAYER + ".post_per_layer_input_norm", "hidden_size"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim if layer_types[layer] == 'sliding_attention' else 512"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim if layer_types[layer] == 'sliding_attention' else 512"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row(
            "per_layer_model_projection",
            "model.per_layer_model_projection",
            "num_hidden_layers * hidden_size_per_layer_input, hidden_size",
        ),
        Row("per_layer_projection_norm", "model.per_layer_projection_norm", "hidden_size_per_layer_input"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("layer_scalar", LAYER + ".layer_scalar", "1", leaf="", buffer=True, persistent=True),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "attention_k_eq_v": False,
        "head_dim": 256,
        "hidden_size": 2304,
        "hidden_size_per_layer_input": 256,
        "intermediate_size": 9216,
        "num_attention_heads": 8,
        "num_hidden_layers": 30,
        "num_key_value_heads": 4,
        "sliding_window": 512,
        "tie_word_embeddings": True,
        "vocab_size": 262144,
        "vocab_size_per_layer_input": 262144,
    },
    derived={
        "layer_types": "['full_attention' if (layer + 1) % num_hidden_layers == 0 or (layer + 1) % 2 == 0 and (layer + 1) % 3 == 0 else 'sliding_attention' for layer in range(num_hidden_layers)]"
    },
)
