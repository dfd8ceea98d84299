"""LFM2: short convolutions in most layers, attention in the others."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
ATTENTION, CONVOLUTION = LAYER + ".self_attn", LAYER + ".conv"
ATTENDS, CONVOLVES = "layer_types[layer] == 'full_attention'", "layer_types[layer] == 'conv'"

FAMILY = Family(
    name="lfm2",
    types={"lfm2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".operator_norm", "hidden_size"),
        Row("q_proj", ATTENTION + ".q_proj", "num_attention_heads * head_dim, hidden_size", when=ATTENDS),
        Row("k_proj", ATTENTION + ".k_proj", "num_key_value_heads * head_dim, hidden_size", when=ATTENDS),
        Row("v_proj", ATTENTION + ".v_proj", "num_key_value_heads * head_dim, hidden_size", when=ATTENDS),
        Row("o_proj", ATTENTION + ".out_proj", "hidden_size, num_attention_heads * head_dim", when=ATTENDS),
        Row("q_norm", ATTENTION + ".q_layernorm", "head_dim", when=ATTENDS),
        Row("k_norm", ATTENTION + ".k_layernorm", "head_dim", when=ATTENDS),
        Row(
            "conv_in_proj",
            CONVOLUTION + ".in_proj",
            "3 * hidden_size, hidden_size",
            bias="conv_bias",
            when=CONVOLVES,
            group="convolution",
        ),
        Row("conv1d", CONVOLUTION + ".conv", "hidden_size, 1, conv_L_cache", bias="conv_bias", when=CONVOLVES),
        Row(
            "conv_out_proj",
            CONVOLUTION + ".out_proj",
            "hidden_size, hidden_size",
            bias="conv_bias",
            when=CONVOLVES,
            group="convolution",
        ),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row("gate_proj", LAYER + ".feed_forward.w1", "feed_forward_width, hidden_size"),
        Row("up_proj", LAYER + ".feed_forward.w3", "feed_forward_width, hidden_size"),
        Row("down_proj", LAYER + ".feed_forward.w2", "hidden_size, feed_forward_width"),
        Row("norm", "model.embedding_norm", "hidden_size"),
        Row(
            "lm_head",
            "lm_head",
            "vocab_size, hidden_size",
            heads="ForCausalLM",
            tied="tie_word_embeddings if tie_embedding is None else tie_embedding",
        ),
    ),
    prefix="model.",
    defaults={
        "block_auto_adjust_ff_dim": True,
        "block_ff_dim": None,
        "block_ffn_dim_multiplier": 1,
        "block_multiple_of": 256,
        "conv_L_cache": 3,
        "conv_bias": False,
        "full_attn_idxs": None,
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "tie_embedding": None,
        "tie_word_embeddings": True,
        "vocab_size": 65536,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "layer_types": (
            "['full_attention' if full_attn_idxs is None or layer in full_attn_idxs else 'conv'"
            " for layer in range(num_hidden_layers)]"
        ),
        "asked_width": "block_ff_dim or intermediate_size",
        "feed_forward_width": (
            "asked_width if not block_auto_adjust_ff_dim else 2 * asked_width // 3 if block_ffn_dim_multiplier is None"
            " else ceil_to(scaled(2 * asked_width // 3, block_ffn_dim_multiplier), block_multiple_of)"
        ),
    },
)
