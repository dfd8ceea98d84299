"""Model type git.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

GIT_ENCODER = "git.encoder.layer.{layer<num_hidden_layers}"
VISION_MODEL_ENCODER = "git.image_encoder.vision_model.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="git",
    types={"git": {}},
    rows=(
        Row("embed_tokens", "git.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "git.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_norm", "git.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "embed_class",
            "git.image_encoder.vision_model.embeddings.class_embedding",
            "vision_config.hidden_size",
            tower="vision",
            leaf="",
        ),
        Row(
            "embed_patches",
            "git.image_encoder.vision_model.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            tower="vision",
        ),
        Row("q_proj", GIT_ENCODER + ".attention.self.query", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", GIT_ENCODER + ".attention.self.key", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", GIT_ENCODER + ".attention.self.value", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", GIT_ENCODER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", GIT_ENCODER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", GIT_ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", GIT_ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", GIT_ENCODER + ".output.LayerNorm", "hidden_size", bias="True"),
        Row(
            "img_temporal_embedding",
            "git.img_temporal_embedding.{layer<num_image_with_embedding}",
            "1, 1, vision_config.hidden_size",
            when="num_image_with_embedding is not None",
            leaf="",
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
        Row(
            "pre_layrnorm",
            "git.image_encoder.vision_model.pre_layrnorm",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row(
            "norm",
            "git.image_encoder.vision_model.post_layernorm",
            "vision_config.hidden_size",
            bias="True",
            tower="vision",
        ),
        Row("lm_head", "output", "vocab_size", heads="ForCausalLM", leaf="bias"),
        Row("lm_head", "output", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row(
            "position_embedding",
            "git.image_encoder.vision_model.embeddings.position_embedding",
            "26, vision_config.hidden_size",
            heads="ForCausalLM",
            tower="vision",
        ),
        Row(
            "position_embedding",
            "git.image_encoder.vision_model.embeddings.position_embedding",
            "197, vision_config.hidden_size",
            heads="Model",
            tower="vision",
        ),
    ),
    prefix="git.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 1024,
        "num_hidden_layers": 6,
        "num_image_with_embedding": None,
        "tie_word_embeddings": False,
        "vision_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "patch_size": 16,
        },
        "vocab_size": 30522,
    },
)
