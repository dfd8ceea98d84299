"""Model type ovis2: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.vision_tower.transformer.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="ovis2",
    types={"ovis2": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen2"),
        Row("visual_embeddings_table", "model.visual_embeddings_table", "vision_config.vocab_size, hidden_size"),
        Row(
            "embed_patches",
            "model.vision_tower.transformer.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "model.vision_tower.transformer.embeddings.position_embedding",
            "(vision_config.image_size // vision_config.patch_size) ** 2, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "rms_norm",
            "model.vision_tower.transformer.embeddings.rms_norm",
            "vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="vision_config.qkv_bias",
            tower="vision",
        ),
        Row("rms_norm1", LAYER + ".rms_norm1", "vision_config.hidden_size", tower="vision"),
        Row("rms_norm2", LAYER + ".rms_norm2", "vision_config.hidden_size", tower="vision"),
        Row(
            "gate_proj",
            LAYER + ".ffn.gate_proj",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="vision_config.mlp_bias",
            tower="vision",
        ),
        Row(
            "up_proj",
            LAYER + ".ffn.up_proj",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="vision_config.mlp_bias",
            tower="vision",
        ),
        Row(
            "down_proj",
            LAYER + ".ffn.down_proj",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="vision_config.mlp_bias",
            tower="vision",
        ),
        Row(
            "vision_tower_rms_norm",
            "model.vision_tower.transformer.rms_norm",
            "vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "head_linear",
            "model.vision_tower.head_linear",
            "vision_config.vocab_size - vision_config.num_visual_indicator_tokens, vision_config.hidden_size * vision_config.hidden_stride * vision_config.hidden_stride",
            tower="vision",
        ),
        Row(
            "head_norm",
            "model.vision_tower.head_norm",
            "vision_config.vocab_size - vision_config.num_visual_indicator_tokens",
            bias="True",
            tower="vision",
        ),
        Row(
            "lm_head",
            "lm_head",
            "vocab_size, hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "hidden_size": 1536,
        "tie_word_embeddings": True,
        "vision_config": {
            "hidden_size": 1024,
            "hidden_stride": 1,
            "image_size": 224,
            "intermediate_size": 2816,
            "mlp_bias": False,
            "num_channels": 3,
            "num_hidden_layers": 24,
            "num_visual_indicator_tokens": 5,
            "patch_size": 14,
            "qkv_bias": False,
            "vocab_size": 16384,
        },
        "vocab_size": 151643,
    },
    head="ForConditionalGeneration",
)
