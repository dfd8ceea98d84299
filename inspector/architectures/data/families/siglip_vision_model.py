"""SigLIP's vision tower, with the attention that pools it where asked for."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="siglip_vision_model",
    types={"siglip_vision_model": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("position_embedding", "embeddings.position_embedding", "(image_size // patch_size) ** 2, hidden_size"),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "post_layernorm", "hidden_size", bias="True"),
        Row("probe", "head.probe", "1, 1, hidden_size", when="vision_use_head", leaf="", group="head"),
        Row(
            "qkv_proj",
            "head.attention.in_proj_weight",
            "3 * hidden_size, hidden_size",
            bias="True",
            when="vision_use_head",
            leaf="",
        ),
        Row("o_proj", "head.attention.out_proj", "hidden_size, hidden_size", bias="True", when="vision_use_head"),
        Row("layernorm", "head.layernorm", "hidden_size", bias="True", when="vision_use_head"),
        Row("up_proj", "head.mlp.fc1", "intermediate_size, hidden_size", bias="True", when="vision_use_head"),
        Row("down_proj", "head.mlp.fc2", "hidden_size, intermediate_size", bias="True", when="vision_use_head"),
    ),
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "vision_use_head": True,
    },
    head="Model",
)
