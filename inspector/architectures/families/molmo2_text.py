"""Model type molmo2_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer}"

FAMILY = Family(
    name="molmo2_text",
    types={"molmo2_text": {}},
    rows=(
        Row("embedding", "wte.embedding", "", leaf=""),
        Row("new_embedding", "wte.new_embedding", "", leaf=""),
        Row("input_layernorm", LAYER + ".attn_norm", ""),
        Row("qkv_proj", LAYER + ".self_attn.att_proj", ""),
        Row("ff_out", LAYER + ".mlp.ff_out", "", group="feed_forward"),
        Row("ff_norm", LAYER + ".ff_norm", ""),
        Row("attn_out", LAYER + ".self_attn.attn_out", ""),
        Row("q_norm", LAYER + ".self_attn.q_norm", ""),
        Row("k_norm", LAYER + ".self_attn.k_norm", ""),
        Row("gate_up_proj", LAYER + ".mlp.ff_proj", ""),
        Row("norm", "norm", ""),
    ),
    names_only=True,
    head="Model",
)
