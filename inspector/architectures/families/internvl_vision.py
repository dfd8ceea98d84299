"""Model type internvl_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="internvl_vision",
    types={"internvl_vision": {}},
    rows=(
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, image_size[0] // patch_size[0] * (image_size[1] // patch_size[1]) + 1, hidden_size",
            when="use_absolute_position_embeddings",
            leaf="",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size[0], patch_size[1]",
            bias="True",
        ),
        Row(
            "mask_token",
            "embeddings.mask_token",
            "1, 1, hidden_size",
            when="use_mask_token",
            leaf="",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.q_proj",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.k_proj",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.v_proj",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="attention_bias",
        ),
        Row("lambda_1", LAYER + ".lambda_1", "hidden_size", leaf=""),
        Row("lambda_2", LAYER + ".lambda_2", "hidden_size", leaf=""),
        Row(
            "projection_layer",
            LAYER + ".attention.projection_layer",
            "hidden_size, hidden_size",
            bias="True",
            group="attention",
        ),
        Row("q_norm", LAYER + ".attention.q_norm", "hidden_size", when="use_qk_norm"),
        Row("k_norm", LAYER + ".attention.k_norm", "hidden_size", when="use_qk_norm"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("layernorm", "layernorm", "hidden_size", bias="True", when="not use_mean_pooling"),
    ),
    defaults={
        "attention_bias": False,
        "hidden_size": 1024,
        "image_size": [448, 448],
        "intermediate_size": 4096,
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "patch_size": [14, 14],
        "use_absolute_position_embeddings": True,
        "use_mask_token": False,
        "use_mean_pooling": True,
        "use_qk_norm": False,
    },
    head="Model",
)
