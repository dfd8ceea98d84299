"""Model type altclip.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ROBERTA_ENCODER = "text_model.roberta.encoder.layer.{layer<text_config.num_hidden_layers}"
VISION_MODEL_ENCODER = "vision_model.encoder.layer.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="altclip",
    types={"altclip": {}},
    rows=(
        Row("embed_norm", "text_model.roberta.embeddings.LayerNorm", "text_config.hidden_size", bias="True"),
        Row(
            "embed_positions",
            "text_model.roberta.embeddings.position_embeddings",
            "text_config.max_position_embeddings, text_config.hidden_size",
        ),
        Row(
            "embed_token_types",
            "text_model.roberta.embeddings.token_type_embeddings",
            "text_config.type_vocab_size, text_config.hidden_size",
        ),
        Row(
            "embed_tokens",
            "text_model.roberta.embeddings.word_embeddings",
            "text_config.vocab_size, text_config.hidden_size",
        ),
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
            "q_proj",
            ROBERTA_ENCODER + ".attention.self.query",
            "text_config.hidden_size // text_config.num_attention_heads * text_config.num_attention_heads, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            ROBERTA_ENCODER + ".attention.self.key",
            "text_config.hidden_size // text_config.num_attention_heads * text_config.num_attention_heads, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            ROBERTA_ENCODER + ".attention.self.value",
            "text_config.hidden_size // text_config.num_attention_heads * text_config.num_attention_heads, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "o_proj",
            ROBERTA_ENCODER + ".attention.output.dense",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "post_attention_layernorm",
            ROBERTA_ENCODER + ".attention.output.LayerNorm",
            "text_config.hidden_size",
            bias="True",
        ),
        Row(
            "up_proj",
            ROBERTA_ENCODER + ".intermediate.dense",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "down_proj",
            ROBERTA_ENCODER + ".output.dense",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="True",
        ),
        Row(
            "post_feedforward_layernorm", ROBERTA_ENCODER + ".output.LayerNorm", "text_config.hidden_size", bias="True"
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
        Row("logit_scale", "logit_scale", "", leaf="", group="head"),
        Row("pre_LN", "text_model.pre_LN", "text_config.hidden_size", bias="True", group="norm"),
        Row(
            "transformation",
            "text_model.transformation",
            "text_config.project_dim, text_config.hidden_size",
            bias="True",
        ),
        Row("text_projection", "text_projection", "projection_dim, text_config.project_dim"),
        Row("visual_projection", "visual_projection", "projection_dim, vision_config.hidden_size"),
        Row("norm", "vision_model.post_layernorm", "vision_config.hidden_size", bias="True", tower="vision"),
        Row("pre_layrnorm", "vision_model.pre_layrnorm", "vision_config.hidden_size", bias="True", tower="vision"),
    ),
    defaults={
        "projection_dim": 768,
        "text_config": {
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "max_position_embeddings": 514,
            "num_attention_heads": 16,
            "num_hidden_layers": 24,
            "project_dim": 768,
            "type_vocab_size": 1,
            "vocab_size": 250002,
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
