"""Model type dbrx.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.blocks.{layer<n_layers}"

FAMILY = Family(
    name="dbrx",
    types={"dbrx": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, d_model"),
        Row("input_layernorm", LAYER + ".norm_attn_norm.norm_1", "d_model"),
        Row("qkv_proj", LAYER + ".norm_attn_norm.attn.Wqkv", "2304, d_model", heads="ForCausalLM"),
        Row(
            "qkv_proj", LAYER + ".norm_attn_norm.attn.Wqkv", "d_model + 2 * d_model // n_heads, d_model", heads="Model"
        ),
        Row("o_proj", LAYER + ".norm_attn_norm.attn.out_proj", "d_model, d_model"),
        Row(
            "v1",
            LAYER + ".ffn.experts.mlp.v1",
            "ffn_config.moe_num_experts * ffn_config.ffn_hidden_size, d_model",
            leaf="",
            group="feed_forward",
        ),
        Row("post_attention_layernorm", LAYER + ".norm_attn_norm.norm_2", "d_model"),
        Row("router", LAYER + ".ffn.router.layer", "ffn_config.moe_num_experts, d_model"),
        Row(
            "gate_proj",
            LAYER + ".ffn.experts.mlp.w1",
            "ffn_config.moe_num_experts * ffn_config.ffn_hidden_size, d_model",
            leaf="",
        ),
        Row(
            "down_proj",
            LAYER + ".ffn.experts.mlp.w2",
            "ffn_config.moe_num_experts * ffn_config.ffn_hidden_size, d_model",
            leaf="",
        ),
        Row("norm", "transformer.norm_f", "d_model"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForCausalLM"),
    ),
    prefix="transformer.",
    defaults={
        "d_model": 2048,
        "ffn_config": {"ffn_hidden_size": 3584, "moe_num_experts": 4},
        "n_heads": 16,
        "n_layers": 24,
        "vocab_size": 32000,
    },
    fields={"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"},
    gguf=("dbrx",),
)
