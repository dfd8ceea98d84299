"""Model type sam2_hiera_det_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer}"

FAMILY = Family(
    name="sam2_hiera_det_model",
    types={"sam2_hiera_det_model": {}},
    rows=(
        Row("embed_positions", "pos_embed", "", leaf=""),
        Row("pos_embed_window", "pos_embed_window", "", leaf=""),
        Row("projection", "patch_embed.projection", "", group="embedding"),
        Row("input_layernorm", LAYER + ".layer_norm1", ""),
        Row("qkv_proj", LAYER + ".attn.qkv", ""),
        Row("o_proj", LAYER + ".attn.proj", ""),
        Row("proj_in", LAYER + ".mlp.proj_in", "", group="feed_forward"),
        Row("proj_out", LAYER + ".mlp.proj_out", "", group="feed_forward"),
        Row("proj", LAYER + ".proj", ""),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", ""),
    ),
    names_only=True,
    head="Model",
)
