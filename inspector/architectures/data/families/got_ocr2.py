"""GOT-OCR 2 and PP-Chart2Table: SAM's vision tower, two convolutions and a linear layer, Qwen2."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "vision_tower.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="got_ocr2",
    types={"got_ocr2": {}, "pp_chart2table": {}},
    rows=(
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="qwen2",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Include(
            "text_config",
            "language_model.model.",
            head="Model",
            default_type="qwen2",
            heads="Model",
            tied="tie_word_embeddings",
        ),
        Row(
            "embed_patches",
            "vision_tower.neck.conv1",
            "vision_config.output_channels, vision_config.hidden_size, 1, 1",
            tower="vision",
        ),
        Row(
            "projection",
            "vision_tower.patch_embed.projection",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
            group="embedding",
        ),
        Row(
            "embed_positions",
            "vision_tower.pos_embed",
            "1, vision_config.image_size // vision_config.patch_size, vision_config.image_size // vision_config.patch_size, vision_config.hidden_size",
            when="vision_config.use_abs_pos",
            tower="vision",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".layer_norm1", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * vision_config.hidden_size, vision_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "rel_pos_h",
            LAYER + ".attn.rel_pos_h",
            "2 * (vision_config.image_size // vision_config.patch_size) - 1 if layer in vision_config.global_attn_indexes else 2 * vision_config.window_size - 1, vision_config.hidden_size // vision_config.num_attention_heads",
            when="vision_config.use_rel_pos",
            tower="vision",
            leaf="",
            group="attention",
        ),
        Row(
            "rel_pos_w",
            LAYER + ".attn.rel_pos_w",
            "2 * (vision_config.image_size // vision_config.patch_size) - 1 if layer in vision_config.global_attn_indexes else 2 * vision_config.window_size - 1, vision_config.hidden_size // vision_config.num_attention_heads",
            when="vision_config.use_rel_pos",
            tower="vision",
            leaf="",
            group="attention",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.lin1",
            "vision_config.mlp_dim, vision_config.hidden_size",
            bias="True",
            tower="vision",
            group="feed_forward",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.lin2",
            "vision_config.hidden_size, vision_config.mlp_dim",
            bias="True",
            tower="vision",
            group="feed_forward",
        ),
        Row(
            "post_attention_layernorm", LAYER + ".layer_norm2", "vision_config.hidden_size", bias="True", tower="vision"
        ),
        Row(
            "conv_upsampler1",
            "multi_modal_projector.conv_upsampler1",
            "2 * vision_config.output_channels, vision_config.output_channels, 3, 3",
            tower="projector",
        ),
        Row(
            "conv_upsampler2",
            "multi_modal_projector.conv_upsampler2",
            "text_config.hidden_size, 2 * vision_config.output_channels, 3, 3",
            tower="projector",
        ),
        Row(
            "multimodal_projector",
            "multi_modal_projector.multimodal_projector",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "conv2",
            "vision_tower.neck.conv2",
            "vision_config.output_channels, vision_config.output_channels, 3, 3",
            tower="vision",
        ),
        Row(
            "input_layernorm",
            "vision_tower.neck.layer_norm1",
            "vision_config.output_channels",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            "vision_tower.neck.layer_norm2",
            "vision_config.output_channels",
            bias="True",
            tower="vision",
        ),
    ),
    defaults={
        "text_config": {"hidden_size": 1024, "tie_word_embeddings": True, "vocab_size": 151860},
        "tie_word_embeddings": True,
        "vision_config": {
            "global_attn_indexes": [2, 5, 8, 11],
            "hidden_size": 768,
            "image_size": 1024,
            "mlp_dim": 3072,
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
    },
    head="ForConditionalGeneration",
)
