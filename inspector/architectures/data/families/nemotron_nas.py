"""DeciLM and the Nemotrons that a search made of Llama: each layer with its own heads and width, or without.

The code comes with the checkpoints (`modeling_decilm.py`).
"""

from __future__ import annotations

from inspector.architectures.data.families.llama import LLAMA_7B
from inspector.architectures.data.families.shared import DECODER_DEFAULTS, DECODER_HEADS, EMBED_TOKENS, LAYER
from inspector.architectures.table import Family, Row

ATTENTION = LAYER + ".self_attn"
ATTENDS = "not attention.no_op and not attention.replace_with_linear"
FEEDS = "not ffn.no_op and not ffn.replace_with_linear"
HEADS, KEYS = "num_attention_heads * head_dim", "key_value_heads * head_dim"

FAMILY = Family(
    name="nemotron_nas",
    types={"nemotron-nas": {}, "deci": {}},
    rows=(
        EMBED_TOKENS,
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size", when="not attention.no_op"),
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size", bias="attention_bias", when=ATTENDS),
        Row("k_proj", ATTENTION + ".k_proj", f"{KEYS}, hidden_size", bias="attention_bias", when=ATTENDS),
        Row("v_proj", ATTENTION + ".v_proj", f"{KEYS}, hidden_size", bias="attention_bias", when=ATTENDS),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", bias="attention_bias", when=ATTENDS),
        Row(
            "linear_attn",
            ATTENTION + ".linear_attn",
            "hidden_size, hidden_size",
            when="attention.replace_with_linear",
            group="attention",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size", when="not ffn.no_op"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "width, hidden_size", bias="mlp_bias", when=FEEDS),
        Row("up_proj", LAYER + ".mlp.up_proj", "width, hidden_size", bias="mlp_bias", when=FEEDS),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, width", bias="mlp_bias", when=FEEDS),
        Row(
            "linear_mlp",
            LAYER + ".mlp.linear_mlp",
            "hidden_size, hidden_size",
            when="ffn.replace_with_linear",
            group="feed_forward",
        ),
        Row("norm", "model.norm", "hidden_size"),
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={**DECODER_DEFAULTS, **LLAMA_7B, "block_configs": None, "num_key_value_heads_per_layer": None},
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "attention": "block_configs[layer].attention if block_configs else None",
        "ffn": "block_configs[layer].ffn if block_configs else None",
        "key_value_heads": (
            "num_key_value_heads_per_layer[layer] if num_key_value_heads_per_layer"
            " else num_attention_heads // attention.n_heads_in_group if attention.n_heads_in_group"
            " else attention.num_key_value_heads or num_key_value_heads"
        ),
        "width": (
            "ffn.intermediate_size or (ceil_to(scaled(2 * hidden_size, ffn.ffn_mult) // 3, 256)"
            " if ffn.ffn_mult else intermediate_size)"
        ),
    },
)
