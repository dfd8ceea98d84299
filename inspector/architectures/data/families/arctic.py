"""Arctic, whose code comes with its checkpoints: a mixture of experts beside a small dense feed-forward."""

from __future__ import annotations

from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    LAYER,
    NORMS,
)
from inspector.architectures.table import Family, Row

MOE = LAYER + ".block_sparse_moe"
EXPERT = MOE + ".experts.{expert<num_local_experts}"
SPARSE = "(layer + 1) % moe_layer_frequency == 0"
RESIDUAL = f"parallel_attn_mlp_res and {SPARSE}"

FAMILY = Family(
    name="arctic",
    types={"arctic": {}},
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        Row("router", MOE + ".gate", "num_local_experts, hidden_size", when=SPARSE),
        Row("gate_proj", EXPERT + ".w1", "intermediate_size, hidden_size", when=SPARSE, active="num_experts_per_tok"),
        Row("down_proj", EXPERT + ".w2", "hidden_size, intermediate_size", when=SPARSE, active="num_experts_per_tok"),
        Row("up_proj", EXPERT + ".w3", "intermediate_size, hidden_size", when=SPARSE, active="num_experts_per_tok"),
        Row("gate_proj", MOE + ".mlp.w1", "intermediate_size, hidden_size", when=f"not ({SPARSE})"),
        Row("down_proj", MOE + ".mlp.w2", "hidden_size, intermediate_size", when=f"not ({SPARSE})"),
        Row("up_proj", MOE + ".mlp.w3", "intermediate_size, hidden_size", when=f"not ({SPARSE})"),
        Row("residual_layernorm", LAYER + ".residual_layernorm", "hidden_size", when=RESIDUAL),
        Row("shared_gate_proj", LAYER + ".residual_mlp.w1", "hidden_size, hidden_size", when=RESIDUAL),
        Row("shared_down_proj", LAYER + ".residual_mlp.w2", "hidden_size, hidden_size", when=RESIDUAL),
        Row("shared_up_proj", LAYER + ".residual_mlp.w3", "hidden_size, hidden_size", when=RESIDUAL),
        *NORMS,
        *DECODER_HEADS,
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        "vocab_size": 32000,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_local_experts": 8,
        "num_experts_per_tok": 1,
        "moe_layer_frequency": 2,
        "parallel_attn_mlp_res": False,
    },
    derived=DECODER_DERIVED,
)
