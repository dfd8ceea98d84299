"""Qwen3-Next and Qwen3.5: a gated delta net in most layers, gated attention in the others, experts or not.

Qwen3.5 has apart what Qwen3-Next fuses: the delta net's queries, keys, values and gates.
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import DECODER_HEADS, EMBED_TOKENS, LAYER, NORMS, gated
from inspector.architectures.table import Family, Row

ATTENTION, DELTA, MLP = LAYER + ".self_attn", LAYER + ".linear_attn", LAYER + ".mlp"
ATTENDS, RECURS = "layer_types[layer] == 'full_attention'", "layer_types[layer] == 'linear_attention'"
SPARSE = "num_experts and layer not in (mlp_only_layers or ()) and (layer + 1) % decoder_sparse_step == 0"
KEYS = "linear_num_key_heads * linear_key_head_dim"
VALUES = "linear_num_value_heads * linear_value_head_dim"
#: Qwen3.5's sizes where a configuration leaves them out.
QWEN_3_5 = {"fused": False, "vocab_size": 248320}


def attention(role: str, name: str, shape: str, bias: str = "") -> Row:
    return Row(role, f"{ATTENTION}.{name}", shape, bias=bias, when=ATTENDS)


def delta(role: str, name: str, shape: str, *, when: str = "", leaf: str = "weight") -> Row:
    return Row(
        role,
        f"{DELTA}.{name}",
        shape,
        when=RECURS + when,
        leaf=leaf,
        group="" if "norm" in role or "conv" in role else "state_space",
    )


FAMILY = Family(
    name="qwen3_next",
    types={
        "qwen3_next": {},
        "qwen3_5_text": {
            **QWEN_3_5,
            "hidden_size": 4096,
            "intermediate_size": 12288,
            "num_experts": 0,
            "num_hidden_layers": 32,
            "num_key_value_heads": 4,
        },
        "qwen3_5_moe_text": {**QWEN_3_5, "num_experts": 256, "num_experts_per_tok": 8, "num_hidden_layers": 40},
    },
    rows=(
        EMBED_TOKENS,
        attention("q_proj", "q_proj", "2 * num_attention_heads * head_dim, hidden_size", "attention_bias"),
        attention("k_proj", "k_proj", "num_key_value_heads * head_dim, hidden_size", "attention_bias"),
        attention("v_proj", "v_proj", "num_key_value_heads * head_dim, hidden_size", "attention_bias"),
        attention("o_proj", "o_proj", "hidden_size, num_attention_heads * head_dim", "attention_bias"),
        attention("q_norm", "q_norm", "head_dim"),
        attention("k_norm", "k_norm", "head_dim"),
        delta("in_proj", "in_proj_qkvz", f"2 * {KEYS} + 2 * {VALUES}, hidden_size", when=" and fused"),
        delta("in_proj_ba", "in_proj_ba", "2 * linear_num_value_heads, hidden_size", when=" and fused"),
        delta("in_proj_qkv", "in_proj_qkv", f"2 * {KEYS} + {VALUES}, hidden_size", when=" and not fused"),
        delta("in_proj_z", "in_proj_z", f"{VALUES}, hidden_size", when=" and not fused"),
        delta("in_proj_b", "in_proj_b", "linear_num_value_heads, hidden_size", when=" and not fused"),
        delta("in_proj_a", "in_proj_a", "linear_num_value_heads, hidden_size", when=" and not fused"),
        delta("conv1d", "conv1d", f"2 * {KEYS} + {VALUES}, 1, linear_conv_kernel_dim"),
        delta("A_log", "A_log", "linear_num_value_heads", leaf=""),
        delta("dt_bias", "dt_bias", "linear_num_value_heads", leaf=""),
        delta("ssm_norm", "norm", "linear_value_head_dim"),
        delta("out_proj", "out_proj", f"hidden_size, {VALUES}"),
        *gated(MLP, "intermediate_size", when=f"not ({SPARSE})"),
        Row("router", MLP + ".gate", "num_experts, hidden_size", when=SPARSE),
        *gated(
            MLP + ".experts.{expert<num_experts}", "moe_intermediate_size", when=SPARSE, active="num_experts_per_tok"
        ),
        Row("shared_expert_gate", MLP + ".shared_expert_gate", "1, hidden_size", when=SPARSE),
        *gated(MLP + ".shared_expert", "shared_expert_intermediate_size", when=SPARSE, prefix="shared_"),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    prefixes={"ForQuestionAnswering": "transformer."},
    classes={  # text models that keep the name of the whole
        "Qwen3_5ForConditionalGeneration": "ForCausalLM",
        "Qwen3_5MoeForConditionalGeneration": "ForCausalLM",
    },
    defaults={
        "attention_bias": False,
        "decoder_sparse_step": 1,
        "full_attention_interval": 4,
        "fused": True,
        "head_dim": 256,
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_value_head_dim": 128,
        "mlp_only_layers": None,
        "moe_intermediate_size": 512,
        "norm_bias": False,
        "num_attention_heads": 16,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "num_hidden_layers": 48,
        "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": False,
        "vocab_size": 151936,
    },
    derived={
        "layer_types": (
            "['linear_attention' if (layer + 1) % full_attention_interval else 'full_attention'"
            " for layer in range(num_hidden_layers)]"
        )
    },
)
