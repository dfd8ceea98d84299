"""Granite's mixtures of experts, and Granite 4, whose layers are Mamba-2 or attention.

All experts of a layer are in one tensor, for which the names have no word of their own.
"""

from __future__ import annotations

from inspector.architectures.data.families.bamba import attention, mamba2
from inspector.architectures.data.families.shared import DECODER_HEADS, EMBED_TOKENS, LAYER, NORMS
from inspector.architectures.table import Family, Row

MOE = LAYER + ".block_sparse_moe"
SHARED = "shared_intermediate_size > 0"
MIXES = "num_local_experts or only_attention"
#: Granite's mixtures without Mamba layers.
ATTENTION_ALONE = {"only_attention": True, "shared_intermediate_size": 0}

FAMILY = Family(
    name="granitemoehybrid",
    types={
        "granitemoe": ATTENTION_ALONE,
        "granitemoeshared": ATTENTION_ALONE,
        "granitemoehybrid": {"shared_intermediate_size": 1024, "always_shared": True},
    },
    rows=(
        EMBED_TOKENS,
        *attention("layer_types[layer] != 'linear_attention'"),
        *mamba2(LAYER + ".mamba", "layer_types[layer] == 'linear_attention'"),
        Row("router", MOE + ".router.layer", "num_local_experts, hidden_size", when=MIXES),
        Row(
            "gate_up_proj",
            MOE + ".input_linear",
            "num_local_experts, 2 * intermediate_size, hidden_size",
            when=MIXES,
            active="num_experts_per_tok",
            stacked="num_local_experts",
        ),
        Row(
            "down_proj",
            MOE + ".output_linear",
            "num_local_experts, hidden_size, intermediate_size",
            when=MIXES,
            active="num_experts_per_tok",
            stacked="num_local_experts",
        ),
        Row(
            "shared_gate_up_proj",
            LAYER + ".shared_mlp.input_linear",
            "2 * shared_intermediate_size, hidden_size",
            when=f"always_shared or {SHARED}",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".shared_mlp.output_linear",
            "hidden_size, shared_intermediate_size",
            when=f"always_shared or {SHARED}",
        ),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        "always_shared": False,
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_state": 256,
        "mamba_expand": 2,
        "mamba_n_groups": 1,
        "mamba_n_heads": 128,
        "mamba_proj_bias": False,
        "norm_bias": False,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_local_experts": 8,
        "only_attention": False,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "inner_size": "mamba_expand * hidden_size",
        "layer_types": (
            "['full_attention' if only_attention else 'linear_attention' for layer in range(num_hidden_layers)]"
        ),
    },
    fields={"layers_block_type": "layer_types"},
)
