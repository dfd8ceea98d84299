"""Model types sam_vision_model, sam_hq_vision_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "vision_encoder.layers.{layer}"

FAMILY = Family(
    name="sam_vision_model",
    types={"sam_vision_model": {}, "sam_hq_vision_model": {}},
    rows=(
        Row("embed_positions", "vision_encoder.pos_embed", "", tower="vision", leaf=""),
        Row("projection", "vision_encoder.patch_embed.projection", "", tower="vision", group="embedding"),
        Row("embed_patches", "vision_encoder.neck.conv1", "", tower="vision"),
        Row("input_layernorm", LAYER + ".layer_norm1", "", tower="vision"),
        Row("qkv_proj", LAYER + ".attn.qkv", "", tower="vision"),
        Row("o_proj", LAYER + ".attn.proj", "", tower="vision"),
        Row("rel_pos_h", LAYER + ".attn.rel_pos_h", "", tower="vision", leaf="", group="attention"),
        Row("rel_pos_w", LAYER + ".attn.rel_pos_w", "", tower="vision", leaf="", group="attention"),
        Row("lin1", LAYER + ".mlp.lin1", "", tower="vision", group="feed_forward"),
        Row("lin2", LAYER + ".mlp.lin2", "", tower="vision", group="feed_forward"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "", tower="vision"),
        Row("input_layernorm", "vision_encoder.neck.layer_norm1", "", tower="vision"),
        Row("conv2", "vision_encoder.neck.conv2", "", tower="vision"),
        Row("post_attention_layernorm", "vision_encoder.neck.layer_norm2", "", tower="vision"),
    ),
    names_only=True,
    head="Model",
)
