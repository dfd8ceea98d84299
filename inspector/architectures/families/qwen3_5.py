"""Model type qwen3_5: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.visual.blocks.{layer<vision_config.depth}"

FAMILY = Family(
    name="qwen3_5",
    types={"qwen3_5": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3_5_text"),
        Row(
            "embed_patches",
            "model.visual.patch_embed.proj",
            "vision_config.hidden_size, vision_config.in_channels, vision_config.temporal_patch_size, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "embed_positions",
            "model.visual.pos_embed",
            "vision_config.num_position_embeddings, vision_config.hidden_size",
            tower="vision",
        ),
        Row("input_layernorm", LAYER + ".norm1", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
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
            "linear_fc1",
            LAYER + ".mlp.linear_fc1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "linear_fc2",
            LAYER + ".mlp.linear_fc2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="vision",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "vision_config.hidden_size", bias="True", tower="vision"),
        Row("norm", "model.visual.merger.norm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "linear_fc1",
            "model.visual.merger.linear_fc1",
            "vision_config.hidden_size * vision_config.spatial_merge_size * vision_config.spatial_merge_size, vision_config.hidden_size * vision_config.spatial_merge_size * vision_config.spatial_merge_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "linear_fc2",
            "model.visual.merger.linear_fc2",
            "vision_config.out_hidden_size, vision_config.hidden_size * vision_config.spatial_merge_size * vision_config.spatial_merge_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row("score", "score", "num_labels, text_config.hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, text_config.hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "text_config": {"hidden_size": 4096, "vocab_size": 248320},
        "tie_word_embeddings": False,
        "vision_config": {
            "depth": 27,
            "hidden_size": 1152,
            "in_channels": 3,
            "intermediate_size": 4304,
            "num_position_embeddings": 2304,
            "out_hidden_size": 3584,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        },
    },
    head="ForConditionalGeneration",
)
