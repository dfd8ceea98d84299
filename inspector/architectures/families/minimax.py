"""Model type minimax.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"
BLOCK_SPARSE_MOE_EXPERTS = "model.layers.{layer}.block_sparse_moe.experts.{expert}"

FAMILY = Family(
    name="minimax",
    types={"minimax": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("qkv_proj", LAYER + ".self_attn.qkv_proj", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("norm", LAYER + ".self_attn.norm", ""),
        Row("out_proj_o_proj", LAYER + ".self_attn.out_proj", ""),
        Row("output_gate", LAYER + ".self_attn.output_gate", "", group="attention"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("router", LAYER + ".block_sparse_moe.gate", ""),
        Row("gate_proj", BLOCK_SPARSE_MOE_EXPERTS + ".w1", ""),
        Row("up_proj", BLOCK_SPARSE_MOE_EXPERTS + ".w3", ""),
        Row("down_proj", BLOCK_SPARSE_MOE_EXPERTS + ".w2", ""),
        Row("norm", "model.norm", ""),
        Row("lm_head", "lm_head", ""),
        Row("qa_outputs", "qa_outputs", ""),
        Row("score", "score", ""),
        Row("diagonal_decay", LAYER + ".self_attn.diagonal_decay", "", leaf="", buffer=True),
        Row("key_decay", LAYER + ".self_attn.key_decay", "", leaf="", buffer=True),
        Row("query_decay", LAYER + ".self_attn.query_decay", "", leaf="", buffer=True),
        Row("slope_rate", LAYER + ".self_attn.slope_rate", "", leaf="", buffer=True),
    ),
    prefix="model.",
    names_only=True,
)
