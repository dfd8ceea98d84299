"""ERNIE 4.5 VL's text model: experts for words and, numbered after them, narrower ones for what is seen."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import ATTENTION, DENSE, EMBED_TOKENS, LAYER, NORMS, SPARSE, gated
from inspector.architectures.table import Family, Row

EXPERT = LAYER + ".mlp.experts.{expert<moe_num_experts}"


def mixture() -> Iterator[Row]:
    """A router for each of the two kinds of tokens; no expert for what is seen works on a word."""
    yield Row("router", LAYER + ".mlp.gate", "hidden_size, moe_num_experts", when=SPARSE, transposed=True)
    yield Row("vision_router", LAYER + ".mlp.gate.weight_1", "hidden_size, moe_num_experts", when=SPARSE, leaf="")
    yield Row(
        "router_bias",
        LAYER + ".mlp.moe_statics.e_score_correction_bias",
        "2, moe_num_experts",
        when=SPARSE,
        leaf="",
    )
    yield from gated(EXPERT, "moe_intermediate_size[0]", when=SPARSE, active="moe_k")
    for row in gated(EXPERT, "moe_intermediate_size[1]", when=SPARSE, active="0"):
        yield row._replace(first_expert="moe_num_experts")
    shared = "moe_num_shared_experts * moe_intermediate_size[0]"
    yield from gated(
        LAYER + ".mlp.shared_experts",
        shared,
        bias="use_bias",
        when=f"moe_num_shared_experts > 0 and {SPARSE}",
        prefix="shared_",
    )
    yield from gated(LAYER + ".mlp", "intermediate_size", bias="use_bias", when=DENSE)


FAMILY = Family(
    name="ernie4_5_vl_moe_text",
    types={"ernie4_5_vl_moe_text": {"num_key_value_heads": 4}},
    rows=(EMBED_TOKENS, *ATTENTION, *mixture(), *NORMS),
    prefix="model.",
    head="Model",
    defaults={
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "moe_intermediate_size": [1536, 512],
        "moe_k": 6,
        "moe_num_experts": 64,
        "moe_num_shared_experts": 2,
        "norm_bias": False,
        "num_attention_heads": 20,
        "num_hidden_layers": 28,
        "qk_norm": False,
        "use_bias": False,
        "vocab_size": 103424,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "mlp_layer_types": "['sparse' if layer else 'dense' for layer in range(num_hidden_layers)]",
        "num_key_value_heads": "num_attention_heads",
        "o_bias": "use_bias",
        "qkv_bias": "use_bias",
    },
    fields={"num_experts": "moe_num_experts", "num_experts_per_tok": "moe_k"},
)
