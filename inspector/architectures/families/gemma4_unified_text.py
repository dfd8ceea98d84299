"""Model type gemma4_unified_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer}"

FAMILY = Family(
    name="gemma4_unified_text",
    types={"gemma4_unified_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", ""),
        Row("input_layernorm", LAYER + ".input_layernorm", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("q_norm", LAYER + ".self_attn.q_norm", ""),
        Row("k_norm", LAYER + ".self_attn.k_norm", ""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", ""),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", ""),
        Row("gate_proj", LAYER + ".mlp.gate_proj", ""),
        Row("up_proj", LAYER + ".mlp.up_proj", ""),
        Row("down_proj", LAYER + ".mlp.down_proj", ""),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", ""),
        Row("norm", "model.norm", ""),
        Row("lm_head", "lm_head", ""),
        Row("layer_scalar", LAYER + ".layer_scalar", "", leaf="", buffer=True),
    ),
    prefix="model.",
    names_only=True,
)
