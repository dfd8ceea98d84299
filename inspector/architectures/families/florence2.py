"""Model type florence2: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

VISION_TOWER = "model.vision_tower.blocks.{layer<len(vision_config.embed_dim)}"
VISION_TOWER_ = "model.vision_tower.blocks.{layer<len(vision_config.embed_dim)}.{at<vision_config.depths[layer]}"

FAMILY = Family(
    name="florence2",
    types={"florence2": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="bart"),
        Row(
            "row_embeddings",
            "model.multi_modal_projector.image_position_embed.row_embeddings",
            "vision_config.max_position_embeddings, vision_config.embed_dim[-1] // 2",
            tower="projector",
        ),
        Row(
            "column_embeddings",
            "model.multi_modal_projector.image_position_embed.column_embeddings",
            "vision_config.max_position_embeddings, vision_config.embed_dim[-1] - vision_config.embed_dim[-1] // 2",
            tower="projector",
        ),
        Row(
            "conv",
            "model.vision_tower.convs.{layer<len(vision_config.embed_dim)}.conv",
            "vision_config.embed_dim[layer], vision_config.embed_dim[layer - 1] if layer > 0 else vision_config.in_channels, vision_config.patch_size[layer], vision_config.patch_size[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "norm",
            "model.vision_tower.convs.{layer<len(vision_config.embed_dim)}.norm",
            "vision_config.embed_dim[layer - 1] if layer > 0 and vision_config.patch_prenorm[layer] else vision_config.in_channels if vision_config.patch_prenorm[layer] else vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "embed_patches",
            VISION_TOWER_ + ".spatial_block.conv1",
            "vision_config.embed_dim[layer], 1, 3, 3",
            bias="True",
            tower="vision",
        ),
        Row(
            "input_layernorm",
            VISION_TOWER_ + ".spatial_block.norm1",
            "vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "qkv",
            VISION_TOWER_ + ".spatial_block.window_attn.qkv",
            "3 * vision_config.embed_dim[layer], vision_config.embed_dim[layer]",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "proj",
            VISION_TOWER_ + ".spatial_block.window_attn.proj",
            "vision_config.embed_dim[layer], vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
            group="attention",
        ),
        Row(
            "conv2",
            VISION_TOWER_ + ".spatial_block.conv2",
            "vision_config.embed_dim[layer], 1, 3, 3",
            bias="True",
            tower="vision",
        ),
        Row(
            "conv1_embed_patches",
            VISION_TOWER_ + ".channel_block.conv1",
            "vision_config.embed_dim[layer], 1, 3, 3",
            bias="True",
            tower="vision",
        ),
        Row(
            "norm1_input_layernorm",
            VISION_TOWER_ + ".channel_block.norm1",
            "vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "channel_attn_qkv",
            VISION_TOWER_ + ".channel_block.channel_attn.qkv",
            "3 * vision_config.embed_dim[layer], vision_config.embed_dim[layer]",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "channel_attn_proj",
            VISION_TOWER_ + ".channel_block.channel_attn.proj",
            "vision_config.embed_dim[layer], vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "channel_block_conv2",
            VISION_TOWER_ + ".channel_block.conv2",
            "vision_config.embed_dim[layer], 1, 3, 3",
            bias="True",
            tower="vision",
        ),
        Row(
            "norm2_post_attention_layernorm",
            VISION_TOWER_ + ".channel_block.norm2",
            "vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "fc1_up_proj",
            VISION_TOWER_ + ".channel_block.ffn.fc1",
            "scaled(vision_config.embed_dim[layer], vision_config.mlp_ratio), vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "fc2_down_proj",
            VISION_TOWER_ + ".channel_block.ffn.fc2",
            "vision_config.embed_dim[layer], scaled(vision_config.embed_dim[layer], vision_config.mlp_ratio)",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            VISION_TOWER_ + ".spatial_block.norm2",
            "vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISION_TOWER_ + ".spatial_block.ffn.fc1",
            "scaled(vision_config.embed_dim[layer], vision_config.mlp_ratio), vision_config.embed_dim[layer]",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            VISION_TOWER_ + ".spatial_block.ffn.fc2",
            "vision_config.embed_dim[layer], scaled(vision_config.embed_dim[layer], vision_config.mlp_ratio)",
            bias="True",
            tower="vision",
        ),
        Row(
            "image_projection",
            "model.multi_modal_projector.image_projection",
            "vision_config.projection_dim, vision_config.embed_dim[-1]",
            tower="projector",
        ),
        Row(
            "image_proj_norm",
            "model.multi_modal_projector.image_proj_norm",
            "vision_config.projection_dim",
            bias="True",
            tower="projector",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.d_model",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "pos_idx_to_embed",
            "model.multi_modal_projector.visual_temporal_embed.pos_idx_to_embed",
            "vision_config.max_temporal_embeddings, vision_config.embed_dim[-1]",
            tower="projector",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "text_config": {"d_model": 1024, "vocab_size": 50265},
        "tie_word_embeddings": True,
        "vision_config": {
            "depths": [1, 1, 9, 1],
            "embed_dim": [128, 256, 512, 1024],
            "in_channels": 3,
            "max_position_embeddings": 50,
            "max_temporal_embeddings": 100,
            "mlp_ratio": 4.0,
            "patch_prenorm": [False, True, True, True],
            "patch_size": [7, 3, 3, 3],
            "projection_dim": 1024,
            "qkv_bias": True,
        },
    },
    head="ForConditionalGeneration",
)
