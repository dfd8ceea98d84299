"""Model type mistral_large4_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer}"
EXPERTS = "layers.{layer}.experts.{expert}"

FAMILY = Family(
    name="mistral_large4_text",
    types={"mistral_large4_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", ""),
        Row("input_layernorm", LAYER + ".attention_norm", ""),
        Row("q_proj", LAYER + ".attention.wq", ""),
        Row("k_proj", LAYER + ".attention.indexer.wk", ""),
        Row("o_proj", LAYER + ".attention.o_proj", ""),
        Row("q_input_norm", LAYER + ".attention.indexer.q_input_norm", ""),
        Row("b", LAYER + ".attention.indexer.ssmax_scaling.b", "", leaf="", group="state_space"),
        Row("s", LAYER + ".attention.indexer.ssmax_scaling.s", "", leaf="", group="state_space"),
        Row("weights_proj", LAYER + ".attention.indexer.weights_proj", "", group="attention"),
        Row("wq_b", LAYER + ".attention.indexer.wq_b", "", group="attention"),
        Row("kv_a_norm", LAYER + ".attention.kv_a_norm", ""),
        Row("wkv_a_with_mqa", LAYER + ".attention.wkv_a_with_mqa", "", group="attention"),
        Row("wkv_b", LAYER + ".attention.wkv_b", "", group="attention"),
        Row("ssmax_scaling_b", LAYER + ".attention.ssmax_scaling.b", "", leaf=""),
        Row("ssmax_scaling_s", LAYER + ".attention.ssmax_scaling.s", "", leaf=""),
        Row("gate", LAYER + ".gate", ""),
        Row("k_norm", LAYER + ".attention.indexer.k_norm", ""),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", ""),
        Row("gate_proj", LAYER + ".feed_forward.gate_proj", ""),
        Row("gate_proj", EXPERTS + ".w1", ""),
        Row("up_proj", LAYER + ".feed_forward.up_proj", ""),
        Row("up_proj", EXPERTS + ".w3", ""),
        Row("down_proj", LAYER + ".feed_forward.down_proj", ""),
        Row("down_proj", EXPERTS + ".w2", ""),
        Row("shared_gate_proj", LAYER + ".shared_experts.gate_proj", ""),
        Row("shared_up_proj", LAYER + ".shared_experts.up_proj", ""),
        Row("shared_down_proj", LAYER + ".shared_experts.down_proj", ""),
        Row("norm", "norm", ""),
        Row("alpha", "rotary_emb.alpha", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="Model",
)
