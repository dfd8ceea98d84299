"""Model type florence2: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

VISION_TOWER = "model.vision_tower.blocks.{layer}"
VISION_TOWER_ = "model.vision_tower.blocks.{layer}.{at}"

FAMILY = Family(
    name="florence2",
    types={"florence2": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="bart"),
        Row("row_embeddings", "model.multi_modal_projector.image_position_embed.row_embeddings", "", tower="projector"),
        Row(
            "column_embeddings",
            "model.multi_modal_projector.image_position_embed.column_embeddings",
            "",
            tower="projector",
        ),
        Row("conv", "model.vision_tower.convs.{layer}.conv", "", tower="vision"),
        Row("norm", "model.vision_tower.convs.{layer}.norm", "", tower="vision"),
        Row("embed_patches", VISION_TOWER_ + ".spatial_block.conv1", "", tower="vision"),
        Row("input_layernorm", VISION_TOWER_ + ".spatial_block.norm1", "", tower="vision"),
        Row("qkv", VISION_TOWER_ + ".spatial_block.window_attn.qkv", "", tower="vision"),
        Row("proj", VISION_TOWER_ + ".spatial_block.window_attn.proj", "", tower="vision", group="attention"),
        Row("conv2", VISION_TOWER_ + ".spatial_block.conv2", "", tower="vision"),
        Row("conv1_embed_patches", VISION_TOWER_ + ".channel_block.conv1", "", tower="vision"),
        Row("norm1_input_layernorm", VISION_TOWER_ + ".channel_block.norm1", "", tower="vision"),
        Row("channel_attn_qkv", VISION_TOWER_ + ".channel_block.channel_attn.qkv", "", tower="vision"),
        Row("channel_attn_proj", VISION_TOWER_ + ".channel_block.channel_attn.proj", "", tower="vision"),
        Row("channel_block_conv2", VISION_TOWER_ + ".channel_block.conv2", "", tower="vision"),
        Row("norm2_post_attention_layernorm", VISION_TOWER_ + ".channel_block.norm2", "", tower="vision"),
        Row("fc1_up_proj", VISION_TOWER_ + ".channel_block.ffn.fc1", "", tower="vision"),
        Row("fc2_down_proj", VISION_TOWER_ + ".channel_block.ffn.fc2", "", tower="vision"),
        Row("post_attention_layernorm", VISION_TOWER_ + ".spatial_block.norm2", "", tower="vision"),
        Row("up_proj", VISION_TOWER_ + ".spatial_block.ffn.fc1", "", tower="vision"),
        Row("down_proj", VISION_TOWER_ + ".spatial_block.ffn.fc2", "", tower="vision"),
        Row("lm_head", "lm_head", ""),
        Row("image_projection", "model.multi_modal_projector.image_projection", "", tower="projector"),
        Row("image_proj_norm", "model.multi_modal_projector.image_proj_norm", "", tower="projector"),
        Row(
            "pos_idx_to_embed",
            "model.multi_modal_projector.visual_temporal_embed.pos_idx_to_embed",
            "",
            tower="projector",
            leaf="",
            buffer=True,
        ),
    ),
    prefix="model.",
    names_only=True,
    head="ForConditionalGeneration",
)
