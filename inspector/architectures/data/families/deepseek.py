"""DeepSeek's first mixture of experts, whose code comes with its checkpoints: Llama's attention, V2's experts."""

from __future__ import annotations

from inspector.architectures.data.families.llama import LLAMA_7B
from inspector.architectures.data.families.shared import (
    ATTENTION,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    MIXTURE,
    MIXTURE_DEFAULTS,
    NORMS,
)
from inspector.architectures.table import Family

FAMILY = Family(
    name="deepseek",
    types={"deepseek": {}},
    rows=(EMBED_TOKENS, *ATTENTION, *MIXTURE, *NORMS, *DECODER_HEADS),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        **LLAMA_7B,
        **MIXTURE_DEFAULTS,
        "vocab_size": 102400,
        "score_correction": False,
        "expert_bias": False,
        "moe_intermediate_size": 1407,
        "n_routed_experts": None,
        "n_shared_experts": None,
        "num_experts_per_tok": None,
        "first_k_dense_replace": 0,
    },
    derived={
        **DECODER_DERIVED,
        "mlp_layer_types": (
            "['sparse' if n_routed_experts and layer >= first_k_dense_replace and layer % moe_layer_freq == 0"
            " else 'dense' for layer in range(num_hidden_layers)]"
        ),
    },
)
