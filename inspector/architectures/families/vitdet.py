"""Model type vitdet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vitdet",
    types={"vitdet": {}},
    rows=(
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (pretrain_image_size // patch_size) ** 2 + 1, hidden_size",
            when="use_absolute_position_embeddings",
            leaf="",
        ),
        Row(
            "projection",
            "embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            group="embedding",
        ),
        Row(
            "embed_patches",
            LAYER + ".residual.conv1",
            "hidden_size // 2, hidden_size, 1, 1",
            when="layer in residual_block_indices",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("qkv", LAYER + ".attention.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias"),
        Row("proj", LAYER + ".attention.proj", "hidden_size, hidden_size", bias="True", group="attention"),
        Row(
            "rel_pos_h",
            LAYER + ".attention.rel_pos_h",
            "(5 if 'stage7' in out_features else 2 * mlp_ratio + 1) if mlp_ratio else 13, hidden_size // num_attention_heads",
            when="use_relative_position_embeddings",
            leaf="",
            group="attention",
        ),
        Row(
            "rel_pos_w",
            LAYER + ".attention.rel_pos_w",
            "(5 if 'stage7' in out_features else 2 * mlp_ratio + 1) if mlp_ratio else 13, hidden_size // num_attention_heads",
            when="use_relative_position_embeddings",
            leaf="",
            group="attention",
        ),
        Row(
            "norm1_input_layernorm",
            LAYER + ".residual.norm1",
            "hidden_size // 2",
            bias="True",
            when="layer in residual_block_indices",
        ),
        Row(
            "conv2",
            LAYER + ".residual.conv2",
            "hidden_size // 2, hidden_size // 2, 3, 3",
            when="layer in residual_block_indices",
        ),
        Row(
            "norm2_post_attention_layernorm",
            LAYER + ".residual.norm2",
            "hidden_size // 2",
            bias="True",
            when="layer in residual_block_indices",
        ),
        Row(
            "conv3",
            LAYER + ".residual.conv3",
            "hidden_size, hidden_size // 2, 1, 1",
            when="layer in residual_block_indices",
        ),
        Row("norm3", LAYER + ".residual.norm3", "hidden_size", bias="True", when="layer in residual_block_indices"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "hidden_size * mlp_ratio, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, hidden_size * mlp_ratio", bias="True"),
    ),
    defaults={
        "hidden_size": 768,
        "mlp_ratio": 4,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "out_features": ["stage12"],
        "patch_size": 16,
        "pretrain_image_size": 224,
        "qkv_bias": True,
        "residual_block_indices": [],
        "use_absolute_position_embeddings": True,
        "use_relative_position_embeddings": False,
    },
    head="Model",
)
