"""Model types sam_vision_model, sam_hq_vision_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "vision_encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="sam_vision_model",
    types={"sam_vision_model": {}, "sam_hq_vision_model": {}},
    rows=(
        Row(
            "embed_positions",
            "vision_encoder.pos_embed",
            "1, image_size // patch_size, image_size // patch_size, hidden_size",
            when="use_abs_pos",
            tower="vision",
            leaf="",
        ),
        Row(
            "projection",
            "vision_encoder.patch_embed.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row("embed_patches", "vision_encoder.neck.conv1", "output_channels, hidden_size, 1, 1", tower="vision"),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True", tower="vision"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias", tower="vision"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True", tower="vision"),
        Row(
            "rel_pos_h",
            LAYER + ".attn.rel_pos_h",
            "2 * (image_size // patch_size) - 1 if layer in global_attn_indexes else 2 * window_size - 1, hidden_size // num_attention_heads",
            when="use_rel_pos",
            tower="vision",
            leaf="",
            group="attention",
        ),
        Row(
            "rel_pos_w",
            LAYER + ".attn.rel_pos_w",
            "2 * (image_size // patch_size) - 1 if layer in global_attn_indexes else 2 * window_size - 1, hidden_size // num_attention_heads",
            when="use_rel_pos",
            tower="vision",
            leaf="",
            group="attention",
        ),
        Row("lin1", LAYER + ".mlp.lin1", "mlp_dim, hidden_size", bias="True", tower="vision", group="feed_forward"),
        Row("lin2", LAYER + ".mlp.lin2", "hidden_size, mlp_dim", bias="True", tower="vision", group="feed_forward"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True", tower="vision"),
        Row("input_layernorm", "vision_encoder.neck.layer_norm1", "output_channels", bias="True", tower="vision"),
        Row("conv2", "vision_encoder.neck.conv2", "output_channels, output_channels, 3, 3", tower="vision"),
        Row(
            "post_attention_layernorm",
            "vision_encoder.neck.layer_norm2",
            "output_channels",
            bias="True",
            tower="vision",
        ),
    ),
    defaults={
        "global_attn_indexes": [2, 5, 8, 11],
        "hidden_size": 768,
        "image_size": 1024,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "output_channels": 256,
        "patch_size": 16,
        "qkv_bias": True,
        "use_abs_pos": True,
        "use_rel_pos": True,
        "window_size": 14,
    },
    derived={"mlp_dim": "4 * hidden_size"},
    head="Model",
)
