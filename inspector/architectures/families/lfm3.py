"""Model type lfm3.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="lfm3",
    types={"lfm3": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("embedding_norm", "model.embedding_norm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
            when="layer_types[layer] != 'conv'",
        ),
        Row(
            "conv",
            LAYER + ".conv.conv",
            "hidden_size, 1, conv_L_cache",
            bias="conv_bias",
            when="layer_types[layer] == 'conv'",
        ),
        Row("operator_norm", LAYER + ".operator_norm", "hidden_size"),
        Row("post_ffn_norm", LAYER + ".post_ffn_norm", "hidden_size", when="use_sandwich_norm"),
        Row("post_operator_norm", LAYER + ".post_operator_norm", "hidden_size", when="use_sandwich_norm"),
        Row(
            "self_attn_gate_proj",
            LAYER + ".self_attn.gate_proj",
            "num_attention_heads, hidden_size",
            when="use_attention_gate and layer_types[layer] != 'conv'",
            group="feed_forward",
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim", when="layer_types[layer] != 'conv'"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim", when="layer_types[layer] != 'conv'"),
        Row(
            "in_proj",
            LAYER + ".conv.in_proj",
            "3 * hidden_size, hidden_size",
            bias="conv_bias",
            when="layer_types[layer] == 'conv'",
        ),
        Row(
            "out_proj",
            LAYER + ".conv.out_proj",
            "hidden_size, hidden_size",
            bias="conv_bias",
            when="layer_types[layer] == 'conv'",
        ),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("gate_proj", LAYER + ".feed_forward.w1", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".feed_forward.w3", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".feed_forward.w2", "hidden_size, intermediate_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "conv_L_cache": 7,
        "conv_bias": False,
        "head_dim": 128,
        "hidden_size": 2048,
        "intermediate_size": 7680,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "num_key_value_heads": 4,
        "tie_word_embeddings": True,
        "use_attention_gate": True,
        "use_sandwich_norm": True,
        "vocab_size": 128000,
    },
    derived={
        "layer_types": "['sliding_attention' if layer > 0 and layer % 4 == 0 else 'full_attention' if layer % 4 == 2 else 'conv' for layer in range(num_hidden_layers)]"
    },
)
