"""Model type tipsv2: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "vision_encoder.blocks.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="tipsv2",
    types={"tipsv2": {}},
    rows=(
        Include("text_config", "text_encoder.", head="Model", default_type="tipsv2_text_model"),
        Row("embed_class", "vision_encoder.cls_token", "1, 1, text_config.hidden_size", tower="vision", leaf=""),
        Row(
            "embed_patches",
            "vision_encoder.patch_embed.proj",
            "text_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "embed_positions",
            "vision_encoder.pos_embed",
            "1, (vision_config.image_size // vision_config.patch_size) ** 2 + 1, text_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".norm1", "text_config.hidden_size", bias="True", tower="vision"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "2304, text_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row("o_proj", LAYER + ".attn.proj", "text_config.hidden_size, 768", bias="True", tower="vision"),
        Row("gamma", LAYER + ".ls1.gamma", "text_config.hidden_size", tower="vision", leaf=""),
        Row("ls2_gamma", LAYER + ".ls2.gamma", "text_config.hidden_size", tower="vision", leaf=""),
        Row(
            "w3_up_proj",
            LAYER + ".mlp.w3",
            "text_config.hidden_size, 2048",
            bias="True",
            when="vision_config.use_swiglu_ffn",
            tower="vision",
        ),
        Row(
            "w12",
            LAYER + ".mlp.w12",
            "4096, text_config.hidden_size",
            bias="True",
            when="vision_config.use_swiglu_ffn",
            tower="vision",
            group="feed_forward",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "text_config.hidden_size", bias="True", tower="vision"),
        Row(
            "up_proj",
            LAYER + ".mlp.c_fc",
            "text_config.hidden_size * vision_config.mlp_ratio, text_config.hidden_size",
            bias="True",
            when="not vision_config.use_swiglu_ffn",
            tower="vision",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.c_proj",
            "text_config.hidden_size, text_config.hidden_size * vision_config.mlp_ratio",
            bias="True",
            when="not vision_config.use_swiglu_ffn",
            tower="vision",
        ),
        Row("temperature", "temperature", "", leaf=""),
        Row(
            "mask_token",
            "vision_encoder.mask_token",
            "1, text_config.hidden_size",
            tower="vision",
            leaf="",
            group="embedding",
        ),
        Row(
            "register_tokens",
            "vision_encoder.register_tokens",
            "1, vision_config.num_register_tokens, text_config.hidden_size",
            tower="vision",
            leaf="",
            group="convolution",
        ),
        Row("norm", "vision_encoder.norm", "text_config.hidden_size", bias="True", tower="vision"),
    ),
    defaults={
        "text_config": {"hidden_size": 768},
        "vision_config": {
            "image_size": 448,
            "mlp_ratio": 4,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "num_register_tokens": 1,
            "patch_size": 14,
            "qkv_bias": True,
            "use_swiglu_ffn": False,
        },
    },
    head="Model",
)
