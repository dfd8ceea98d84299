"""OpenELM, whose code comes with its checkpoints: heads and widths of the feed-forward that change from layer to layer."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.layers.{layer<num_transformer_layers}"

FAMILY = Family(
    name="openelm",
    types={"openelm": {}},
    rows=(
        Row("embed_tokens", "transformer.token_embeddings", "vocab_size, model_dim"),
        Row("input_layernorm", LAYER + ".attn_norm", "model_dim"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv_proj",
            "(num_query_heads[layer] + 2 * num_kv_heads[layer]) * head_dim, model_dim",
        ),
        Row("q_norm", LAYER + ".attn.q_norm", "head_dim", when="normalize_qk_projections"),
        Row("k_norm", LAYER + ".attn.k_norm", "head_dim", when="normalize_qk_projections"),
        Row("o_proj", LAYER + ".attn.out_proj", "model_dim, num_query_heads[layer] * head_dim"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "model_dim"),
        Row("gate_up_proj", LAYER + ".ffn.proj_1", "2 * ffn_width, model_dim", when="ffn_with_glu"),
        Row("up_proj", LAYER + ".ffn.proj_1", "ffn_width, model_dim", when="not ffn_with_glu"),
        Row("down_proj", LAYER + ".ffn.proj_2", "model_dim, ffn_width"),
        Row("norm", "transformer.norm", "model_dim"),
        Row("lm_head", "lm_head", "vocab_size, model_dim", heads="ForCausalLM", tied="share_input_output_layers"),
    ),
    prefix="transformer.",
    defaults={
        "vocab_size": 32000,
        "head_dim": 128,
        "ffn_with_glu": True,
        "ffn_dim_divisor": 256,
        "normalize_qk_projections": True,
        "share_input_output_layers": True,
    },
    derived={
        # make_divisible: to the nearest multiple, and one more where that loses over a tenth
        "asked": "scaled(model_dim, ffn_multipliers[layer])",
        "nearest": "max(ffn_dim_divisor, (asked + ffn_dim_divisor // 2) // ffn_dim_divisor * ffn_dim_divisor)",
        "ffn_width": "nearest + ffn_dim_divisor if 10 * nearest < 9 * asked else nearest",
    },
    fields={"hidden_size": "model_dim", "num_hidden_layers": "num_transformer_layers"},
)
