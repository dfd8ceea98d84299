"""Model type qwen3_5_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="qwen3_5_text",
    types={"qwen3_5_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "2 * num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            bias="attention_bias",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "in_proj_qkv",
            LAYER + ".linear_attn.in_proj_qkv",
            "linear_num_value_heads * linear_value_head_dim + 2 * linear_num_key_heads * linear_key_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "in_proj_z",
            LAYER + ".linear_attn.in_proj_z",
            "linear_num_value_heads * linear_value_head_dim, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "in_proj_b",
            LAYER + ".linear_attn.in_proj_b",
            "linear_num_value_heads, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row(
            "in_proj_a",
            LAYER + ".linear_attn.in_proj_a",
            "linear_num_value_heads, hidden_size",
            when="layer_types[layer] == 'linear_attention'",
            group="state_space",
        ),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim", when="layer_types[layer] == 'full_attention'"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim", when="layer_types[layer] == 'full_attention'"),
        Row(
            "conv1d",
            LAYER + ".linear_attn.conv1d",
            "linear_num_value_heads * linear_value_head_dim + 2 * linear_num_key_heads * linear_key_head_dim, 1, linear_conv_kernel_dim",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "A_log",
            LAYER + ".linear_attn.A_log",
            "linear_num_value_heads",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
        ),
        Row(
            "dt_bias",
            LAYER + ".linear_attn.dt_bias",
            "linear_num_value_heads",
            when="layer_types[layer] == 'linear_attention'",
            leaf="",
        ),
        Row(
            "ssm_norm",
            LAYER + ".linear_attn.norm",
            "linear_value_head_dim",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row(
            "out_proj",
            LAYER + ".linear_attn.out_proj",
            "hidden_size, linear_num_value_heads * linear_value_head_dim",
            when="layer_types[layer] == 'linear_attention'",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 256,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_value_head_dim": 128,
        "num_attention_heads": 16,
        "num_hidden_layers": 32,
        "num_key_value_heads": 4,
        "tie_word_embeddings": False,
        "vocab_size": 248320,
    },
    derived={
        "layer_types": "['full_attention' if (layer + 1) % 4 == 0 else 'linear_attention' for layer in range(num_hidden_layers)]"
    },
    gguf=("qwen35",),
)
