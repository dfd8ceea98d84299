"""Model type lfm2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="lfm2",
    types={"lfm2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("embedding_norm", "model.embedding_norm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_key_value_heads * head_dim, hidden_size",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "hidden_size, num_attention_heads * head_dim",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row("operator_norm", LAYER + ".operator_norm", "hidden_size"),
        Row("conv", LAYER + ".conv.conv", "hidden_size, 1, 3", when="layer_types[layer] == 'conv'"),
        Row(
            "q_norm",
            LAYER + ".self_attn.q_layernorm",
            "head_dim",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.k_layernorm",
            "head_dim",
            when="layer_types[layer] == 'full_attention'",
        ),
        Row(
            "in_proj",
            LAYER + ".conv.in_proj",
            "hidden_size * conv_L_cache, hidden_size",
            when="layer_types[layer] == 'conv'",
        ),
        Row("out_proj", LAYER + ".conv.out_proj", "hidden_size, hidden_size", when="layer_types[layer] == 'conv'"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row(
            "gate_proj",
            LAYER + ".feed_forward.w1",
            "(block_multiple_of if num_labels > 2 else num_hidden_layers * block_multiple_of) if block_auto_adjust_ff_dim else intermediate_size, hidden_size",
        ),
        Row(
            "up_proj",
            LAYER + ".feed_forward.w3",
            "(block_multiple_of if num_labels > 2 else num_hidden_layers * block_multiple_of) if block_auto_adjust_ff_dim else intermediate_size, hidden_size",
        ),
        Row(
            "down_proj",
            LAYER + ".feed_forward.w2",
            "hidden_size, (block_multiple_of if num_labels > 2 else num_hidden_layers * block_multiple_of) if block_auto_adjust_ff_dim else intermediate_size",
        ),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    prefix="model.",
    defaults={
        "block_auto_adjust_ff_dim": True,
        "block_multiple_of": 256,
        "conv_L_cache": 3,
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "layer_types": [
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
            "full_attention",
        ],
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "tie_word_embeddings": True,
        "vocab_size": 65536,
    },
    gguf=("lfm2",),
)
