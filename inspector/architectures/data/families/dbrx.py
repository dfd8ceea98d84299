"""DBRX: fused attention, and all experts of a layer in one matrix each for gate, up and down."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.blocks.{layer<n_layers}"
ATTENTION = LAYER + ".norm_attn_norm"
EXPERTS = "ffn_config.moe_num_experts * ffn_config.ffn_hidden_size, d_model"


def expert(role: str, name: str) -> Row:
    return Row(
        role,
        f"{LAYER}.ffn.experts.mlp.{name}",
        EXPERTS,
        active="ffn_config.moe_top_k",
        leaf="",
        stacked="ffn_config.moe_num_experts",
    )


FAMILY = Family(
    name="dbrx",
    types={"dbrx": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, d_model"),
        Row("input_layernorm", ATTENTION + ".norm_1", "d_model"),
        Row(
            "qkv_proj", ATTENTION + ".attn.Wqkv", "d_model + 2 * attn_config.kv_n_heads * (d_model // n_heads), d_model"
        ),
        Row("o_proj", ATTENTION + ".attn.out_proj", "d_model, d_model"),
        Row("post_attention_layernorm", ATTENTION + ".norm_2", "d_model"),
        Row("router", LAYER + ".ffn.router.layer", "ffn_config.moe_num_experts, d_model"),
        expert("gate_proj", "w1"),
        expert("up_proj", "v1"),
        expert("down_proj", "w2"),
        Row("norm", "transformer.norm_f", "d_model"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="transformer.",
    defaults={
        "attn_config": {"kv_n_heads": 1},
        "d_model": 2048,
        "ffn_config": {"ffn_hidden_size": 3584, "moe_num_experts": 4, "moe_top_k": 1},
        "n_heads": 16,
        "n_layers": 24,
        "tie_word_embeddings": False,
        "vocab_size": 32000,
    },
    fields={"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"},
)
