"""CLIP's vision tower, Chinese CLIP's, GIT's and IDEFICS', by itself or with the projection that makes it comparable to texts."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "vision_model.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="clip_vision_model",
    types={
        "clip_vision_model": {},
        "chinese_clip_vision_model": {},
        "git_vision_model": {"patch_size": 16},
        "idefics_vision": {"intermediate_size": 5120, "num_hidden_layers": 32, "patch_size": 14},
    },
    rows=(
        Row("embed_class", "vision_model.embeddings.class_embedding", "hidden_size", leaf=""),
        Row(
            "embed_patches",
            "vision_model.embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
        ),
        Row(
            "position_embedding",
            "vision_model.embeddings.position_embedding",
            "(image_size // patch_size) ** 2 + 1, hidden_size",
        ),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("pre_layrnorm", "vision_model.pre_layrnorm", "hidden_size", bias="True"),
        Row("norm", "vision_model.post_layernorm", "hidden_size", bias="True"),
        Row(
            "visual_projection",
            "visual_projection",
            "projection_dim, hidden_size",
            heads="WithProjection",
            group="head",
        ),
    ),
    prefix="vision_model.",
    classes={"CLIPVisionModelWithProjection": "WithProjection"},
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "projection_dim": 512,
        "patch_size": 32,
    },
    fields={"embed_dim": "hidden_size"},  # IDEFICS' word
    head="Model",
)
