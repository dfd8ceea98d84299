"""Model type video_llava: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "video_tower.encoder.layers.{layer<vision_config.num_hidden_layers}"

FAMILY = Family(
    name="video_llava",
    types={"video_llava": {}},
    rows=(
        Include(
            "text_config", "language_model.", head="ForCausalLM", default_type="llama", heads="ForConditionalGeneration"
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="llama", heads="Model"),
        Include("vision_config", "image_tower.", tower="vision", head="Model", default_type="clip_vision_model"),
        Row("embed_class", "video_tower.embeddings.class_embedding", "vision_config.hidden_size", leaf=""),
        Row(
            "embed_patches",
            "video_tower.embeddings.patch_embedding",
            "vision_config.hidden_size, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
        ),
        Row(
            "position_embedding",
            "video_tower.embeddings.position_embedding",
            "(vision_config.image_size // vision_config.patch_size) ** 2 + 1, vision_config.hidden_size",
        ),
        Row("input_layernorm", LAYER + ".layer_norm1", "vision_config.hidden_size", bias="True", tower="encoder"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "vision_config.hidden_size, vision_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".layer_norm2",
            "vision_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "vision_config.intermediate_size, vision_config.hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "vision_config.hidden_size, vision_config.intermediate_size",
            bias="True",
            tower="encoder",
        ),
        Row("post_layernorm", "video_tower.post_layernorm", "vision_config.hidden_size", bias="True"),
        Row("pre_layrnorm", "video_tower.pre_layrnorm", "vision_config.hidden_size", bias="True"),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, vision_config.hidden_size",
            bias="multimodal_projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="multimodal_projector_bias",
            tower="projector",
        ),
    ),
    defaults={
        "multimodal_projector_bias": True,
        "text_config": {"hidden_size": 4096},
        "vision_config": {
            "hidden_size": 1024,
            "image_size": 224,
            "intermediate_size": 4096,
            "num_channels": 3,
            "num_hidden_layers": 24,
            "patch_size": 14,
        },
    },
    head="ForConditionalGeneration",
)
