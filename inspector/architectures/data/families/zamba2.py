"""Zamba 2: Mamba-2 layers, before some of which one of a few shared transformer blocks works.

A block is stored with the first layer that has it; what tells its uses apart are adapters of low rank.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
BLOCK = LAYER + ".shared_transformer"
ATTENTION, FEED_FORWARD = BLOCK + ".self_attn", BLOCK + ".feed_forward"
HYBRID, PLAIN = "layers_block_type[layer] == 'hybrid'", "layers_block_type[layer] != 'hybrid'"
STORED = f"{HYBRID} and (not tie_word_embeddings or ordinal < num_mem_blocks)"
HEADS, KEYS = "num_attention_heads * attention_head_dim", "num_key_value_heads * attention_head_dim"
STATES = "2 * mamba_ngroups * mamba_d_state"


def mamba(at: str, when: str) -> tuple[Row, ...]:
    """A Mamba-2 layer at a path."""
    mixer = at + ".mamba"
    return (
        Row("input_layernorm", at + ".input_layernorm", "hidden_size", when=when),
        Row(
            "in_proj",
            mixer + ".in_proj",
            f"2 * inner_size + {STATES} + n_mamba_heads, hidden_size",
            bias="add_bias_linear",
            when=when,
        ),
        Row("conv1d", mixer + ".conv1d", f"inner_size + {STATES}, 1, mamba_d_conv", bias="True", when=when),
        Row("A_log", mixer + ".A_log", "n_mamba_heads", when=when, leaf=""),
        Row("D", mixer + ".D", "n_mamba_heads", when=when, leaf=""),
        Row("dt_bias", mixer + ".dt_bias", "n_mamba_heads", when=when, leaf=""),
        Row("ssm_norm", mixer + ".norm", "inner_size", when=when),
        Row("out_proj", mixer + ".out_proj", "hidden_size, inner_size", bias="add_bias_linear", when=when),
    )


def adapter(role: str, name: str, inside: str, outside: str, when: str = "") -> Row:
    """Two matrices of low rank, down and up, for each use of a block that falls to it."""
    return Row(
        f"{role}_adapter",
        name + ".{use<hybrids}.{up<2}",
        f"{outside} if up else adapter_rank, adapter_rank if up else {inside}",
        when=f"{STORED} and use % num_mem_blocks == ordinal % num_mem_blocks{when}",
        group="adapter",
    )


def attention_adapter(letter: str) -> Row:
    name = f"{ATTENTION}.linear_{letter}_adapter_list"
    width = "attention_hidden_size"
    return adapter(f"{letter}_proj", name, width, width, " and use_shared_attention_adapter")


FAMILY = Family(
    name="zamba2",
    types={"zamba2": {}},
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
        attention_adapter("q"),
        attention_adapter("k"),
        attention_adapter("v"),
        Row("pre_feedforward_layernorm", BLOCK + ".pre_ff_layernorm", "hidden_size", when=STORED),
        Row(
            "gate_up_proj",
            FEED_FORWARD + ".gate_up_proj",
            "2 * intermediate_size, hidden_size",
            bias="add_bias_linear",
            when=STORED,
        ),
        Row(
            "down_proj",
            FEED_FORWARD + ".down_proj",
            "hidden_size, intermediate_size",
            bias="add_bias_linear",
            when=STORED,
        ),
        adapter("gate_up_proj", FEED_FORWARD + ".gate_up_proj_adapter_list", "hidden_size", "2 * intermediate_size"),
        Row("norm", "model.final_layernorm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "adapter_rank": 128,
        "add_bias_linear": False,
        "hidden_size": 2560,
        "mamba_d_conv": 4,
        "mamba_d_state": 64,
        "mamba_expand": 2,
        "mamba_ngroups": 1,
        "n_mamba_heads": 8,
        "num_attention_heads": 32,
        "num_hidden_layers": 54,
        "num_mem_blocks": 1,
        "tie_word_embeddings": True,
        "use_shared_attention_adapter": False,
        "vocab_size": 32000,
    },
    derived={
        "attention_hidden_size": "2 * hidden_size",
        "attention_head_dim": "2 * hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "intermediate_size": "4 * hidden_size",
        "inner_size": "int(mamba_expand * hidden_size)",
        "layers_block_type": (
            "['hybrid' if layer > 0 and (layer % 6 == 0 if layer < 43 else layer in (47, 51)) else 'linear_attention'"
            " for layer in range(num_hidden_layers)]"
        ),
        "hybrids": "sum([1 if layers_block_type[at] == 'hybrid' else 0 for at in range(num_hidden_layers)])",
        "ordinal": "sum([1 if layers_block_type[at] == 'hybrid' else 0 for at in range(layer)])",
    },
    fields={"layer_types": "layers_block_type", "head_dim": "attention_head_dim"},
)
