"""Model type qwen2_vl: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "visual.blocks.{layer<vision_config.depth}"

FAMILY = Family(
    name="qwen2_vl",
    types={"qwen2_vl": {}},
    rows=(
        Include("text_config", "model.", head="Model", default_type="qwen2_vl_text", heads="ForConditionalGeneration"),
        Include("text_config", "language_model.", head="Model", default_type="qwen2_vl_text", heads="Model"),
        Row(
            "embed_patches",
            "visual.patch_embed.proj",
            "vision_config.embed_dim, vision_config.in_channels, vision_config.temporal_patch_size, vision_config.patch_size, vision_config.patch_size",
            tower="vision",
        ),
        Row("input_layernorm", LAYER + ".norm1", "vision_config.embed_dim", bias="True", tower="vision"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * vision_config.embed_dim, vision_config.embed_dim",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.proj",
            "vision_config.embed_dim, vision_config.embed_dim",
            bias="True",
            tower="vision",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "vision_config.embed_dim", bias="True", tower="vision"),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "vision_config.embed_dim * vision_config.mlp_ratio, vision_config.embed_dim",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "vision_config.embed_dim, vision_config.embed_dim * vision_config.mlp_ratio",
            bias="True",
            tower="vision",
        ),
        Row(
            "mlp",
            "visual.merger.mlp.{layer<3}",
            "vision_config.hidden_size if layer > 0 else vision_config.embed_dim * vision_config.spatial_merge_size * vision_config.spatial_merge_size, vision_config.embed_dim * vision_config.spatial_merge_size * vision_config.spatial_merge_size",
            bias="True",
            when="layer % 2 == 0",
            tower="vision",
        ),
        Row("ln_q", "visual.merger.ln_q", "vision_config.embed_dim", bias="True", tower="vision"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    prefixes={"Model": "model."},
    defaults={
        "text_config": {"hidden_size": 8192, "vocab_size": 152064},
        "tie_word_embeddings": False,
        "vision_config": {
            "depth": 32,
            "embed_dim": 1280,
            "hidden_size": 3584,
            "in_channels": 3,
            "mlp_ratio": 4,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        },
    },
    head="ForConditionalGeneration",
)
