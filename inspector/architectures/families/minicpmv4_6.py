"""Model type minicpmv4_6: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

MERGER_MLP = "model.merger.mlp.{layer<merger_times}"
VISION_TOWER_ENCODER = "model.vision_tower.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="minicpmv4_6",
    types={"minicpmv4_6": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3_5_text"),
        Row(
            "embed_patches",
            "model.vision_tower.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "model.vision_tower.embeddings.position_embedding",
            "(vision_config.image_size // vision_config.patch_size) ** 2, vision_config.hidden_size",
            tower="vision",
        ),
        Row("pre_norm", MERGER_MLP + ".pre_norm", "4 * vision_config.hidden_size", bias="True"),
        Row(
            "linear_1",
            MERGER_MLP + ".linear_1",
            "4 * vision_config.hidden_size, 4 * vision_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "linear_2",
            MERGER_MLP + ".linear_2",
            "text_config.hidden_size, 4 * vision_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "input_layernorm",
            VISION_TOWER_ENCODER + ".layer_norm1",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "q_proj",
            VISION_TOWER_ENCODER + ".self_attn.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "k_proj",
            VISION_TOWER_ENCODER + ".self_attn.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "v_proj",
            VISION_TOWER_ENCODER + ".self_attn.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            VISION_TOWER_ENCODER + ".self_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            VISION_TOWER_ENCODER + ".layer_norm2",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISION_TOWER_ENCODER + ".mlp.fc1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            VISION_TOWER_ENCODER + ".mlp.fc2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="vision",
        ),
        Row("norm", "model.vision_tower.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row(
            "k_proj",
            "model.vision_tower.vit_merger.self_attn.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "v_proj",
            "model.vision_tower.vit_merger.self_attn.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "q_proj",
            "model.vision_tower.vit_merger.self_attn.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            "model.vision_tower.vit_merger.self_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "input_layernorm",
            "model.vision_tower.vit_merger.layer_norm1",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "pre_norm",
            "model.vision_tower.vit_merger.pre_norm",
            "vision_config.hidden_size * vision_config.window_kernel_size[0] * vision_config.window_kernel_size[1]",
            bias="True",
            tower="vision",
        ),
        Row(
            "linear_1",
            "model.vision_tower.vit_merger.linear_1",
            "vision_config.intermediate_size * vision_config.window_kernel_size[0] * vision_config.window_kernel_size[1], vision_config.hidden_size * vision_config.window_kernel_size[0] * vision_config.window_kernel_size[1]",
            bias="True",
            tower="vision",
        ),
        Row(
            "linear_2",
            "model.vision_tower.vit_merger.linear_2",
            "vision_config.hidden_size, vision_config.intermediate_size * vision_config.window_kernel_size[0] * vision_config.window_kernel_size[1]",
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
    ),
    prefix="model.",
    defaults={
        "merger_times": 1,
        "text_config": {"hidden_size": 4096, "vocab_size": 248320},
        "tie_word_embeddings": False,
        "vision_config": {
            "hidden_size": 768,
            "image_size": 224,
            "intermediate_size": 3072,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "patch_size": 16,
            "window_kernel_size": [2, 2],
        },
    },
    head="ForConditionalGeneration",
)
