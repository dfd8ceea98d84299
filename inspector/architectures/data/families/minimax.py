"""MiniMax-Text-01 and M1: lightning attention in most layers, softmax attention in the others, and experts.

The decays are buffers that Transformers writes, and the checkpoints published with code of their own do not hold.
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_DEFAULTS, DECODER_HEADS, EMBED_TOKENS, LAYER, NORMS
from inspector.architectures.table import Family, Row

ATTENTION, MOE = LAYER + ".self_attn", LAYER + ".block_sparse_moe"
EXPERT = MOE + ".experts.{expert<num_local_experts}"
ATTENDS, LINEAR = "layer_types[layer] != 'linear_attention'", "layer_types[layer] == 'linear_attention'"
HEADS, KEYS = "num_attention_heads * head_dim", "num_key_value_heads * head_dim"
#: The layers that are named softmax attention by number.
BY_NUMBER = {"decays": False}


def decay(name: str, shape: str) -> Row:
    return Row(name, f"{ATTENTION}.{name}", shape, when=f"decays and {LINEAR}", leaf="", buffer=True, persistent=True)


FAMILY = Family(
    name="minimax",
    types={"minimax": {"num_key_value_heads": 8}, "minimax_text_01": BY_NUMBER, "minimax_m1": BY_NUMBER},
    rows=(
        EMBED_TOKENS,
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size", when=ATTENDS),
        Row("k_proj", ATTENTION + ".k_proj", f"{KEYS}, hidden_size", when=ATTENDS),
        Row("v_proj", ATTENTION + ".v_proj", f"{KEYS}, hidden_size", when=ATTENDS),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", when=ATTENDS),
        Row("qkv_proj", ATTENTION + ".qkv_proj", f"3 * {HEADS}, hidden_size", when=LINEAR),
        Row("gate_attn", ATTENTION + ".output_gate", f"{HEADS}, hidden_size", when=LINEAR),
        Row("attention_norm", ATTENTION + ".norm", HEADS, when=LINEAR),
        Row("o_proj", ATTENTION + ".out_proj", f"hidden_size, {HEADS}", when=LINEAR),
        decay("slope_rate", "num_attention_heads, 1, 1"),
        decay("query_decay", "num_attention_heads, block_size, 1"),
        decay("key_decay", "num_attention_heads, block_size, 1"),
        decay("diagonal_decay", "1, num_attention_heads, block_size, block_size"),
        Row("router", MOE + ".gate", "num_local_experts, hidden_size"),
        Row("gate_proj", EXPERT + ".w1", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, intermediate_size", active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "intermediate_size, hidden_size", active="num_experts_per_tok"),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        "attn_type_list": None,
        "block_size": 256,
        "decays": True,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 32,
        "num_local_experts": 8,
        "vocab_size": 32000,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "layer_types": (
            "['full_attention' if (attn_type_list[layer] if attn_type_list else (layer + 1) % 2)"
            " else 'linear_attention' for layer in range(num_hidden_layers)]"
        ),
    },
)
