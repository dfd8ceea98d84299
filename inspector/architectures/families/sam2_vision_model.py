"""Model type sam2_vision_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "backbone.blocks.{layer<sum(backbone_config.blocks_per_stage)}"

FAMILY = Family(
    name="sam2_vision_model",
    types={"sam2_vision_model": {}},
    rows=(
        Row(
            "embed_positions",
            "backbone.pos_embed",
            "1, backbone_config.hidden_size, backbone_config.window_positional_embedding_background_size[0], backbone_config.window_positional_embedding_background_size[1]",
            leaf="",
        ),
        Row(
            "pos_embed_window",
            "backbone.pos_embed_window",
            "1, backbone_config.hidden_size, backbone_config.window_size_per_stage[0], backbone_config.window_size_per_stage[0]",
            leaf="",
        ),
        Row(
            "projection",
            "backbone.patch_embed.projection",
            "backbone_config.hidden_size, backbone_config.num_channels, backbone_config.patch_kernel_size[0], backbone_config.patch_kernel_size[1]",
            bias="True",
            group="embedding",
        ),
        Row(
            "input_layernorm",
            LAYER + ".layer_norm1",
            "backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer - 1)]",
            bias="True",
        ),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)], backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer - 1)]",
            bias="True",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.proj",
            "backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)], backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)]",
            bias="True",
        ),
        Row(
            "proj_in",
            LAYER + ".mlp.proj_in",
            "scaled(backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)], backbone_config.mlp_ratio), backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)]",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "proj_out",
            LAYER + ".mlp.proj_out",
            "backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)], scaled(backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)], backbone_config.mlp_ratio)",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "proj",
            LAYER + ".proj",
            "backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)], backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer - 1)]",
            bias="True",
            when="stage(backbone_config.blocks_per_stage, layer) != stage(backbone_config.blocks_per_stage, layer - 1)",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".layer_norm2",
            "backbone_config.embed_dim_per_stage[stage(backbone_config.blocks_per_stage, layer)]",
            bias="True",
        ),
        Row(
            "convs",
            "neck.convs.{layer<len(backbone_config.blocks_per_stage)}",
            "fpn_hidden_size, backbone_channel_list[layer], fpn_kernel_size, fpn_kernel_size",
            bias="True",
        ),
    ),
    defaults={
        "backbone_config": {
            "blocks_per_stage": [1, 2, 7, 2],
            "embed_dim_per_stage": [96, 192, 384, 768],
            "hidden_size": 96,
            "mlp_ratio": 4.0,
            "num_channels": 3,
            "patch_kernel_size": [7, 7],
            "window_positional_embedding_background_size": [7, 7],
            "window_size_per_stage": [8, 4, 14, 7],
        },
        "fpn_hidden_size": 256,
        "fpn_kernel_size": 1,
    },
    derived={
        "backbone_channel_list": "[192 if layer == 2 else 384 if layer == 1 else 768 if layer == 0 else 96 for layer in range(4)]"
    },
    head="Model",
)
