"""Model type deepseek_vl_hybrid: high_res_vision_config, text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="deepseek_vl_hybrid",
    types={"deepseek_vl_hybrid": {}},
    rows=(
        Include(
            "high_res_vision_config",
            "model.high_res_vision_model.",
            tower="high_res_vision",
            head="Model",
            default_type="sam_vision_model",
            without="rel_pos_h rel_pos_w",
        ),
        Include("text_config", "model.language_model.", head="Model", default_type="llama"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Row(
            "embed_patches",
            "model.high_res_vision_neck.conv1",
            "high_res_vision_config.output_channels, high_res_vision_config.hidden_size, 1, 1",
        ),
        Row(
            "conv1_embed_patches",
            "model.high_res_vision_proj.conv1",
            "2 * high_res_vision_config.output_channels, high_res_vision_config.output_channels, 3, 3",
        ),
        Row(
            "rel_pos_h",
            "model.high_res_vision_model.vision_encoder.layers.{layer<high_res_vision_config.num_hidden_layers}.attn.rel_pos_h",
            "2 * high_res_vision_config.image_size // high_res_vision_config.patch_size - 1 if layer in high_res_vision_config.global_attn_indexes else 2 * high_res_vision_config.window_size - 1, high_res_vision_config.hidden_size // high_res_vision_config.num_attention_heads",
            when="high_res_vision_config.use_rel_pos",
            tower="vision",
            leaf="",
            group="attention",
        ),
        Row(
            "rel_pos_w",
            "model.high_res_vision_model.vision_encoder.layers.{layer<high_res_vision_config.num_hidden_layers}.attn.rel_pos_w",
            "2 * high_res_vision_config.image_size // high_res_vision_config.patch_size - 1 if layer in high_res_vision_config.global_attn_indexes else 2 * high_res_vision_config.window_size - 1, high_res_vision_config.hidden_size // high_res_vision_config.num_attention_heads",
            when="high_res_vision_config.use_rel_pos",
            tower="vision",
            leaf="",
            group="attention",
        ),
        Row("high_res_vision_alpha", "model.high_res_vision_alpha", "1", leaf=""),
        Row(
            "input_layernorm",
            "model.high_res_vision_neck.layer_norm1",
            "high_res_vision_config.output_channels",
            bias="True",
        ),
        Row(
            "conv2",
            "model.high_res_vision_neck.conv2",
            "high_res_vision_config.output_channels, high_res_vision_config.output_channels, 3, 3",
        ),
        Row(
            "post_attention_layernorm",
            "model.high_res_vision_neck.layer_norm2",
            "high_res_vision_config.output_channels",
            bias="True",
        ),
        Row(
            "high_res_vision_proj_conv2",
            "model.high_res_vision_proj.conv2",
            "4 * high_res_vision_config.output_channels, 2 * high_res_vision_config.output_channels, 3, 3",
        ),
        Row(
            "vision_proj",
            "model.aligner.vision_proj",
            "text_config.hidden_size // 2, vision_config.hidden_size",
            bias="True",
        ),
        Row(
            "high_res_vision_proj",
            "model.aligner.high_res_vision_proj",
            "text_config.hidden_size // 2, 4 * high_res_vision_config.output_channels",
            bias="True",
        ),
        Row("proj", "model.aligner.proj", "text_config.hidden_size, text_config.hidden_size", bias="True"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "high_res_vision_config": {
            "global_attn_indexes": [2, 5, 8, 11],
            "hidden_size": 768,
            "image_size": 1024,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "output_channels": 256,
            "patch_size": 16,
            "use_rel_pos": True,
            "window_size": 14,
        },
        "text_config": {"hidden_size": 4096, "vocab_size": 32000},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
