"""Bamba: Mamba-2 layers, attention in those that `attn_layer_indices` counts, and a feed-forward in each."""

from __future__ import annotations

from inspector.architectures.data.families.shared import EMBED_TOKENS, LAYER, gated
from inspector.architectures.table import Family, Row

ATTENTION, MIXER = LAYER + ".self_attn", LAYER + ".mamba"
ATTENDS, MAMBA = "layer in (attn_layer_indices or ())", "layer not in (attn_layer_indices or ())"
STATES = "2 * mamba_n_groups * mamba_d_state"
HEADS, KEYS = "num_attention_heads * head_dim", "num_key_value_heads * head_dim"


def mamba2(mixer: str, when: str) -> tuple[Row, ...]:
    """Mamba-2's mixer under the field names that Bamba gave them."""
    return (
        Row(
            "in_proj",
            mixer + ".in_proj",
            f"2 * inner_size + {STATES} + mamba_n_heads, hidden_size",
            bias="mamba_proj_bias",
            when=when,
        ),
        Row("conv1d", mixer + ".conv1d", f"inner_size + {STATES}, 1, mamba_d_conv", bias="mamba_conv_bias", when=when),
        Row("A_log", mixer + ".A_log", "mamba_n_heads", when=when, leaf=""),
        Row("D", mixer + ".D", "mamba_n_heads", when=when, leaf=""),
        Row("dt_bias", mixer + ".dt_bias", "mamba_n_heads", when=when, leaf=""),
        Row("ssm_norm", mixer + ".norm", "inner_size", when=when),
        Row("out_proj", mixer + ".out_proj", "hidden_size, inner_size", bias="mamba_proj_bias", when=when),
    )


def attention(when: str) -> tuple[Row, ...]:
    """Grouped-query attention in some layers."""
    return (
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size", bias="attention_bias", when=when),
        Row("k_proj", ATTENTION + ".k_proj", f"{KEYS}, hidden_size", bias="attention_bias", when=when),
        Row("v_proj", ATTENTION + ".v_proj", f"{KEYS}, hidden_size", bias="attention_bias", when=when),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", bias="attention_bias", when=when),
    )


FAMILY = Family(
    name="bamba",
    types={"bamba": {"num_key_value_heads": 8}},
    rows=(
        EMBED_TOKENS,
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        *attention(ATTENDS),
        *mamba2(MIXER, MAMBA),
        Row("pre_feedforward_layernorm", LAYER + ".pre_ff_layernorm", "hidden_size"),
        *gated(LAYER + ".feed_forward", "intermediate_size", bias="mlp_bias"),
        Row("norm", "model.final_layernorm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "attn_layer_indices": None,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_state": 256,
        "mamba_expand": 2,
        "mamba_n_groups": 1,
        "mamba_n_heads": 128,
        "mamba_proj_bias": False,
        "mlp_bias": False,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
        "vocab_size": 128000,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "inner_size": "mamba_expand * hidden_size",
    },
)
