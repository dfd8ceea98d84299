"""Model type sam3_vit_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="sam3_vit_model",
    types={"sam3_vit_model": {}},
    rows=(
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (pretrain_image_size // patch_size) ** 2, hidden_size",
            leaf="",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
        ),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.o_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("layer_norm", "layer_norm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 1024,
        "intermediate_size": 4736,
        "num_channels": 3,
        "num_hidden_layers": 32,
        "patch_size": 14,
        "pretrain_image_size": 336,
    },
    head="Model",
)
