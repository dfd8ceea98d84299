"""Zamba: Mamba layers of several heads, before some of which the one shared transformer block works."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
BLOCK = LAYER + ".shared_transf"
ATTENTION, FEED_FORWARD = BLOCK + ".self_attn", BLOCK + ".feed_forward"
HYBRID, PLAIN = "layers_block_type[layer] == 'hybrid'", "layers_block_type[layer] != 'hybrid'"
STORED = f"{HYBRID} and (not tie_word_embeddings or layer == place(layers_block_type, 'hybrid'))"
HEADS, KEYS = "num_attention_heads * attention_head_dim", "num_key_value_heads * attention_head_dim"


def mamba(at: str, when: str) -> tuple[Row, ...]:
    """A Mamba layer at a path; its small projections are one matrix a head."""
    mixer = at + ".mamba"
    return (
        Row("input_layernorm", at + ".input_layernorm", "hidden_size", when=when),
        Row("in_proj", mixer + ".in_proj", "2 * inner_size, hidden_size", bias="mamba_proj_bias", when=when),
        Row("conv1d", mixer + ".conv1d", "inner_size, 1, mamba_d_conv", bias="mamba_conv_bias", when=when),
        Row(
            "x_proj",
            mixer + ".x_proj_weight",
            "n_mamba_heads, dt_rank + 2 * mamba_d_state, inner_size // n_mamba_heads",
            when=when,
            leaf="",
        ),
        Row(
            "dt_proj",
            mixer + ".dt_proj_weight",
            "n_mamba_heads, inner_size // n_mamba_heads, dt_rank",
            when=when,
            leaf="",
        ),
        Row("dt_proj", mixer + ".dt_proj_bias", "n_mamba_heads, inner_size // n_mamba_heads", when=when, leaf=""),
        Row("A_log", mixer + ".A_log", "n_mamba_heads, inner_size // n_mamba_heads, mamba_d_state", when=when, leaf=""),
        Row("D", mixer + ".D", "n_mamba_heads, inner_size // n_mamba_heads", when=when, leaf=""),
        Row("out_proj", mixer + ".out_proj", "hidden_size, inner_size", bias="mamba_proj_bias", when=when),
    )


FAMILY = Family(
    name="zamba",
    types={"zamba": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        *mamba(LAYER, PLAIN),
        *mamba(LAYER + ".mamba_decoder", HYBRID),
        Row("block_proj", LAYER + ".linear", "hidden_size, hidden_size", when=HYBRID, group="other"),
        Row("block_input_layernorm", BLOCK + ".input_layernorm", "attention_hidden_size", when=STORED),
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, attention_hidden_size", when=STORED),
        Row("k_proj", ATTENTION + ".k_proj", f"{KEYS}, attention_hidden_size", when=STORED),
        Row("v_proj", ATTENTION + ".v_proj", f"{KEYS}, attention_hidden_size", when=STORED),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", when=STORED),
        Row("pre_feedforward_layernorm", BLOCK + ".pre_ff_layernorm", "hidden_size", when=STORED),
        Row("gate_proj", FEED_FORWARD + ".gate_proj", "intermediate_size, hidden_size", when=STORED),
        Row("up_proj", FEED_FORWARD + ".up_proj", "intermediate_size, hidden_size", when=STORED),
        Row("down_proj", FEED_FORWARD + ".down_proj", "hidden_size, intermediate_size", when=STORED),
        Row("norm", "model.final_layernorm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attn_layer_offset": 4,
        "attn_layer_period": 6,
        "hidden_size": 3712,
        "intermediate_size": 14848,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_state": 16,
        "mamba_dt_rank": "auto",
        "mamba_expand": 2,
        "mamba_proj_bias": False,
        "n_mamba_heads": 2,
        "num_attention_heads": 16,
        "num_hidden_layers": 76,
        "num_key_value_heads": 16,
        "tie_word_embeddings": True,
        "vocab_size": 32000,
    },
    derived={
        "attention_hidden_size": "2 * hidden_size",
        "attention_head_dim": "2 * hidden_size // num_attention_heads",
        "inner_size": "mamba_expand * hidden_size",
        "dt_rank": "ceil_to(hidden_size, 16) // 16 if mamba_dt_rank == 'auto' else mamba_dt_rank",
        "layers_block_type": (
            "['hybrid' if layer == 2 or layer > 2 and (layer - 3) % attn_layer_period == attn_layer_offset"
            " else 'linear_attention' for layer in range(num_hidden_layers)]"
        ),
    },
    fields={"layer_types": "layers_block_type", "head_dim": "attention_head_dim"},
)
