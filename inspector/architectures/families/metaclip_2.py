"""Model type metaclip_2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TEXT_MODEL_ENCODER = "text_model.encoder.layers.{layer<text_config.num_hidden_layers}"
VISION_MODEL_ENCODER = "vision_model.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="metaclip_2",
    types={"metaclip_2": {}},
    rows=(
        Row(
            "embed_class",
            "vision_model.embeddings.class_embedding",
            "vision_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row(
            "embed_patches",
            "vision_model.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "vision_model.embeddings.position_embedding",
            "(vision_config.image_size // vision_config.patch_size) ** 2 + 1, vision_config.hidden_size",
            tower="vision",
        ),
        Row(
            "input_layernorm",
            TEXT_MODEL_ENCODER + ".layer_norm1",
            "text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "q_proj",
            TEXT_MODEL_ENCODER + ".self_attn.q_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "k_proj",
            TEXT_MODEL_ENCODER + ".self_attn.k_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "v_proj",
            TEXT_MODEL_ENCODER + ".self_attn.v_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "o_proj",
            TEXT_MODEL_ENCODER + ".self_attn.out_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "post_attention_layernorm",
            TEXT_MODEL_ENCODER + ".layer_norm2",
            "text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "up_proj",
            TEXT_MODEL_ENCODER + ".mlp.fc1",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "down_proj",
            TEXT_MODEL_ENCODER + ".mlp.fc2",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "input_layernorm",
            VISION_MODEL_ENCODER + ".layer_norm1",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "q_proj",
            VISION_MODEL_ENCODER + ".self_attn.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "k_proj",
            VISION_MODEL_ENCODER + ".self_attn.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "v_proj",
            VISION_MODEL_ENCODER + ".self_attn.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "o_proj",
            VISION_MODEL_ENCODER + ".self_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "post_attention_layernorm",
            VISION_MODEL_ENCODER + ".layer_norm2",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "up_proj",
            VISION_MODEL_ENCODER + ".mlp.fc1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "down_proj",
            VISION_MODEL_ENCODER + ".mlp.fc2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="vision",
        ),
        Row("pre_layrnorm", "vision_model.pre_layrnorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row("norm", "vision_model.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row("logit_scale", "logit_scale", "", heads="Model", leaf="", group="head"),
        Row(
            "token_embedding",
            "text_model.embeddings.token_embedding",
            "text_config.vocab_size, text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "position_embedding",
            "text_model.embeddings.position_embedding",
            "text_config.max_position_embeddings, text_config.hidden_size",
            heads="Model",
        ),
        Row("norm", "text_model.final_layer_norm", "text_config.hidden_size", bias="True", heads="Model"),
        Row("visual_projection", "visual_projection", "projection_dim, vision_config.hidden_size", heads="Model"),
        Row("text_projection", "text_projection", "projection_dim, text_config.hidden_size", heads="Model"),
        Row(
            "classifier",
            "classifier",
            "num_labels, vision_config.hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
    ),
    defaults={
        "projection_dim": 512,
        "text_config": {
            "hidden_size": 512,
            "intermediate_size": 2048,
            "max_position_embeddings": 77,
            "num_hidden_layers": 12,
            "vocab_size": 49408,
        },
        "vision_config": {
            "hidden_size": 768,
            "image_size": 224,
            "intermediate_size": 3072,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "patch_size": 32,
        },
    },
    head="Model",
)
