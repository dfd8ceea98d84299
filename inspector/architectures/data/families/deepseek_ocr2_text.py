"""DeepSeek-OCR 2's text model: DeepSeek's mixture with plain attention."""

from __future__ import annotations

from inspector.architectures.data.families.shared import ATTENTION, EMBED_TOKENS, MIXTURE, NORMS
from inspector.architectures.table import Family

FAMILY = Family(
    name="deepseek_ocr2_text",
    types={"deepseek_ocr2_text": {}},
    rows=(EMBED_TOKENS, *ATTENTION, *MIXTURE, *NORMS),
    prefix="model.",
    head="Model",
    defaults={
        "attention_bias": False,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "mlp_bias": False,
        "moe_intermediate_size": 1407,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "norm_bias": False,
        "num_attention_heads": 32,
        "num_experts_per_tok": None,
        "num_hidden_layers": 32,
        "qk_norm": False,
        "score_correction": False,
        "vocab_size": 102400,
    },
    derived={
        "expert_bias": "mlp_bias",
        "head_dim": "hidden_size // num_attention_heads",
        "mlp_layer_types": "['sparse' if layer else 'dense' for layer in range(num_hidden_layers)]",
        "num_key_value_heads": "num_attention_heads",
        "o_bias": "attention_bias",
        "qkv_bias": "attention_bias",
    },
    fields={"num_experts": "n_routed_experts"},
)
