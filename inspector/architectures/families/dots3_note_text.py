"""Model type dots3_note_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"
MLP_EXPERTS = "model.layers.{layer}.mlp.experts.{expert}"

FAMILY = Family(
    name="dots3_note_text",
    types={"dots3_note_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("k_proj", LAYER + ".self_attn.indexer.wk", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("q_a_proj", LAYER + ".self_attn.q_a_proj", ""),
        Row("q_a_layernorm", LAYER + ".self_attn.q_a_layernorm", ""),
        Row("g_proj", LAYER + ".self_attn.g_proj", "", group="attention"),
        Row("weights_proj", LAYER + ".self_attn.indexer.weights_proj", "", group="attention"),
        Row("wq_b", LAYER + ".self_attn.indexer.wq_b", "", group="attention"),
        Row("k_rope_only_layernorm", LAYER + ".self_attn.k_rope_only_layernorm", ""),
        Row("q_b_proj", LAYER + ".self_attn.q_b_proj", ""),
        Row("kv_a_proj_with_mqa", LAYER + ".self_attn.kv_a_proj_with_mqa", ""),
        Row("kv_a_layernorm", LAYER + ".self_attn.kv_a_layernorm", ""),
        Row("kv_b_proj", LAYER + ".self_attn.kv_b_proj", ""),
        Row("k_norm", LAYER + ".self_attn.indexer.k_norm", ""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("router", LAYER + ".mlp.gate", ""),
        Row("router_bias", LAYER + ".mlp.gate.e_score_correction_bias", "", leaf=""),
        Row("gate_proj", LAYER + ".mlp.gate_proj", ""),
        Row("gate_proj", MLP_EXPERTS + ".gate_proj", ""),
        Row("up_proj", LAYER + ".mlp.up_proj", ""),
        Row("up_proj", MLP_EXPERTS + ".up_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("down_proj", MLP_EXPERTS + ".down_proj", ""),
        Row("shared_gate_proj", LAYER + ".mlp.shared_experts.gate_proj", ""),
        Row("shared_up_proj", LAYER + ".mlp.shared_experts.up_proj", ""),
        Row("shared_down_proj", LAYER + ".mlp.shared_experts.down_proj", ""),
        Row("lm_head", "lm_head", ""),
        Row("norm", "model.norm", ""),
    ),
    prefix="model.",
    names_only=True,
)
