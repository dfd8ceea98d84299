"""OLMo Hybrid: gated delta-net in most layers, OLMo 2's attention in the others.

Transformers keeps the convolutions over queries, keys and values as one, and writes it in three equal parts; it
writes the norm after attention under the name that the one before a feed-forward has in the other layers.
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_HEADS, EMBED_TOKENS, LAYER, gated
from inspector.architectures.table import Family, Row

ATTENTION, DELTA = LAYER + ".self_attn", LAYER + ".linear_attn"
ATTENDS, RECURS = "layer_types[layer] == 'full_attention'", "layer_types[layer] != 'full_attention'"
HEADS, KEYS = "num_attention_heads * head_dim", "num_key_value_heads * head_dim"


def attention(role: str, name: str, shape: str, bias: str = "") -> Row:
    return Row(role, f"{ATTENTION}.{name}", shape, bias=bias, when=ATTENDS)


def delta(role: str, name: str, shape: str, leaf: str = "weight") -> Row:
    return Row(
        role, f"{DELTA}.{name}", shape, when=RECURS, leaf=leaf, group="norm" if "norm" in role else "state_space"
    )


FAMILY = Family(
    name="olmo_hybrid",
    types={"olmo_hybrid": {}},
    rows=(
        EMBED_TOKENS,
        attention("q_proj", "q_proj", f"{HEADS}, hidden_size", "attention_bias"),
        attention("k_proj", "k_proj", f"{KEYS}, hidden_size", "attention_bias"),
        attention("v_proj", "v_proj", f"{KEYS}, hidden_size", "attention_bias"),
        attention("o_proj", "o_proj", f"hidden_size, {HEADS}", "attention_bias"),
        attention("q_norm", "q_norm", HEADS),
        attention("k_norm", "k_norm", KEYS),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size", when=ATTENDS),
        Row("input_layernorm", LAYER + ".attention_layer_norm", "hidden_size", when=RECURS),
        delta("linear_q_proj", "q_proj", "key_width, hidden_size"),
        delta("linear_k_proj", "k_proj", "key_width, hidden_size"),
        delta("linear_v_proj", "v_proj", "value_width, hidden_size"),
        delta("linear_a_proj", "a_proj", "linear_num_value_heads, hidden_size"),
        delta("linear_b_proj", "b_proj", "linear_num_value_heads, hidden_size"),
        delta("linear_g_proj", "g_proj", "value_width, hidden_size"),
        delta("q_conv1d", "q_conv1d", "third, 1, linear_conv_kernel_dim"),
        delta("k_conv1d", "k_conv1d", "third, 1, linear_conv_kernel_dim"),
        delta("v_conv1d", "v_conv1d", "2 * key_width + value_width - 2 * third, 1, linear_conv_kernel_dim"),
        delta("A_log", "A_log", "linear_num_value_heads", leaf=""),
        delta("dt_bias", "dt_bias", "linear_num_value_heads", leaf=""),
        delta("ssm_norm", "o_norm", "linear_value_head_dim"),
        delta("out_proj", "o_proj", "hidden_size, value_width"),
        Row("post_attention_layernorm", LAYER + ".feedforward_layer_norm", "hidden_size"),
        *gated(LAYER + ".mlp", "intermediate_size"),
        Row("norm", "model.norm", "hidden_size"),
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 3840,
        "intermediate_size": 11008,
        "linear_conv_kernel_dim": 4,
        "num_attention_heads": 30,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
        "vocab_size": 100352,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "layer_types": (
            "['full_attention' if layer % 4 == 3 or num_hidden_layers < 4 and layer == num_hidden_layers - 1"
            " else 'linear_attention' for layer in range(num_hidden_layers)]"
        ),
        "linear_num_key_heads": "num_attention_heads",
        "linear_num_value_heads": "num_attention_heads",
        "linear_key_head_dim": "3 * hidden_size // (4 * linear_num_key_heads)",
        "linear_value_head_dim": "2 * linear_key_head_dim",
        "key_width": "linear_num_key_heads * linear_key_head_dim",
        "value_width": "linear_num_value_heads * linear_value_head_dim",
        "third": "(2 * key_width + value_width + 2) // 3",
    },
)
