"""Model type pp_chart2table: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "vision_tower.layers.{layer}"

FAMILY = Family(
    name="pp_chart2table",
    types={"pp_chart2table": {}},
    rows=(
        Include("text_config", "language_model.", head="ForCausalLM", default_type="qwen2"),
        Row("embed_patches", "vision_tower.neck.conv1", "", tower="vision"),
        Row("projection", "vision_tower.patch_embed.projection", "", tower="vision", group="embedding"),
        Row("embed_positions", "vision_tower.pos_embed", "", tower="vision", leaf=""),
        Row("input_layernorm", LAYER + ".layer_norm1", "", tower="vision"),
        Row("qkv_proj", LAYER + ".attn.qkv", "", tower="vision"),
        Row("o_proj", LAYER + ".attn.proj", "", tower="vision"),
        Row("rel_pos_h", LAYER + ".attn.rel_pos_h", "", tower="vision", leaf="", group="attention"),
        Row("rel_pos_w", LAYER + ".attn.rel_pos_w", "", tower="vision", leaf="", group="attention"),
        Row("lin1", LAYER + ".mlp.lin1", "", tower="vision", group="feed_forward"),
        Row("lin2", LAYER + ".mlp.lin2", "", tower="vision", group="feed_forward"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "", tower="vision"),
        Row("language_model_lm_head", "language_model.lm_head", ""),
        Row("conv_upsampler1", "multi_modal_projector.conv_upsampler1", "", tower="projector"),
        Row("conv_upsampler2", "multi_modal_projector.conv_upsampler2", "", tower="projector"),
        Row("multimodal_projector", "multi_modal_projector.multimodal_projector", "", tower="projector"),
        Row("conv2", "vision_tower.neck.conv2", "", tower="vision"),
        Row("input_layernorm", "vision_tower.neck.layer_norm1", "", tower="vision"),
        Row("post_attention_layernorm", "vision_tower.neck.layer_norm2", "", tower="vision"),
    ),
    names_only=True,
    head="ForConditionalGeneration",
)
