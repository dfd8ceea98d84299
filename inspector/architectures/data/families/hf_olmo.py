"""OLMo as it was first published, and LLaDA, which took its code: `blocks` of projections named by what they do.

OLMo's projections of a layer are fused, LLaDA's are not (`block_type`). Widths may lie beside their multiples.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.transformer.blocks.{layer<n_layers}"
FUSED, APART = "block_type == 'sequential'", "block_type == 'llama'"
NORMED = "layer_norm_with_affine"

FAMILY = Family(
    name="hf_olmo",
    types={
        "hf_olmo": {},
        "llada": {
            "block_type": "llama",
            "d_model": 4096,
            "embedding_size": 126464,
            "layer_norm_with_affine": True,
            "mlp_hidden_size": 12288,
            "n_heads": 32,
            "n_layers": 32,
            "vocab_size": 126464,
            "weight_tying": False,
        },
    },
    rows=(
        Row("embed_tokens", "model.transformer.wte", "embedding_size, d_model"),
        Row("input_layernorm", LAYER + ".attn_norm", "d_model", when=NORMED),
        Row(
            "qkv_proj",
            LAYER + ".att_proj",
            "(n_heads + 2 * n_kv_heads) * (d_model // n_heads), d_model",
            bias="include_bias or include_qkv_bias",
            when=FUSED,
        ),
        Row("q_proj", LAYER + ".q_proj", "d_model, d_model", bias="include_bias or include_qkv_bias", when=APART),
        Row(
            "k_proj",
            LAYER + ".k_proj",
            "n_kv_heads * (d_model // n_heads), d_model",
            bias="include_bias or include_qkv_bias",
            when=APART,
        ),
        Row(
            "v_proj",
            LAYER + ".v_proj",
            "n_kv_heads * (d_model // n_heads), d_model",
            bias="include_bias or include_qkv_bias",
            when=APART,
        ),
        Row("o_proj", LAYER + ".attn_out", "d_model, d_model", bias="include_bias"),
        Row("post_attention_layernorm", LAYER + ".ff_norm", "d_model", when=NORMED),
        Row("gate_up_proj", LAYER + ".ff_proj", "mlp_hidden_size, d_model", bias="include_bias", when=FUSED),
        Row("gate_proj", LAYER + ".ff_proj", "mlp_hidden_size, d_model", bias="include_bias", when=APART),
        Row("up_proj", LAYER + ".up_proj", "mlp_hidden_size, d_model", bias="include_bias", when=APART),
        Row(
            "down_proj",
            LAYER + ".ff_out",
            "d_model, mlp_hidden_size // 2 if block_type == 'sequential' else mlp_hidden_size",
            bias="include_bias",
        ),
        Row("norm", "model.transformer.ln_f", "d_model", when=NORMED),
        Row("lm_head", "model.transformer.ff_out", "embedding_size, d_model", tied="weight_tying"),
    ),
    classes={"LLaDAModelLM": "ForCausalLM"},
    defaults={
        "block_type": "sequential",
        "d_model": 768,
        "include_bias": False,
        "include_qkv_bias": False,
        "layer_norm_with_affine": False,
        "mlp_ratio": 4,
        "n_heads": 12,
        "n_layers": 12,
        "vocab_size": 50257,
        "weight_tying": True,
    },
    derived={
        "embedding_size": "vocab_size",
        "mlp_hidden_size": "mlp_ratio * d_model",
        "n_kv_heads": "n_heads",
    },
    fields={
        "hidden_size": "d_model",
        "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers",
        "num_key_value_heads": "n_kv_heads",
    },
)
