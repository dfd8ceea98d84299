"""Model type glm_image_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<depth}"

FAMILY = Family(
    name="glm_image_vision",
    types={"glm_image_vision": {}},
    rows=(
        Row("position_embedding", "embeddings.position_embedding", "(image_size // patch_size) ** 2, hidden_size"),
        Row("embed_patches", "patch_embed.proj", "hidden_size, in_channels, patch_size, patch_size", bias="True"),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="attention_bias"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
    ),
    defaults={
        "attention_bias": True,
        "depth": 40,
        "hidden_size": 1536,
        "image_size": 2048,
        "in_channels": 3,
        "intermediate_size": 6144,
        "patch_size": 16,
    },
    fields={"num_hidden_layers": "depth"},
    head="Model",
)
