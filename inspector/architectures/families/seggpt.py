"""Model type seggpt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="seggpt",
    types={"seggpt": {}},
    rows=(
        Row("mask_token", "embeddings.mask_token", "1, 1, 1, hidden_size", leaf="", group="embedding"),
        Row(
            "segment_token_input", "embeddings.segment_token_input", "1, 1, 1, hidden_size", leaf="", group="embedding"
        ),
        Row(
            "segment_token_prompt",
            "embeddings.segment_token_prompt",
            "1, 1, 1, hidden_size",
            leaf="",
            group="embedding",
        ),
        Row(
            "type_token_semantic", "embeddings.type_token_semantic", "1, 1, 1, hidden_size", leaf="", group="embedding"
        ),
        Row(
            "type_token_instance", "embeddings.type_token_instance", "1, 1, 1, hidden_size", leaf="", group="embedding"
        ),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (pretrain_image_size // patch_size) ** 2 + 1, hidden_size",
            leaf="",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "rel_pos_h",
            LAYER + ".attention.rel_pos_h",
            "2 * (image_size[0] // patch_size) - 1, hidden_size // num_attention_heads",
            when="use_relative_position_embeddings",
            leaf="",
            group="attention",
        ),
        Row(
            "rel_pos_w",
            LAYER + ".attention.rel_pos_w",
            "2 * (image_size[1] // patch_size) - 1, hidden_size // num_attention_heads",
            when="use_relative_position_embeddings",
            leaf="",
            group="attention",
        ),
        Row("qkv", LAYER + ".attention.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias"),
        Row("proj", LAYER + ".attention.proj", "hidden_size, hidden_size", bias="True", group="attention"),
        Row("lin1", LAYER + ".mlp.lin1", "mlp_dim, hidden_size", bias="True", group="feed_forward"),
        Row("lin2", LAYER + ".mlp.lin2", "hidden_size, mlp_dim", bias="True", group="feed_forward"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("layernorm", "encoder.layernorm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 1024,
        "image_size": [896, 448],
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "patch_size": 16,
        "pretrain_image_size": 224,
        "qkv_bias": True,
        "use_relative_position_embeddings": True,
    },
    derived={"mlp_dim": "4 * hidden_size"},
    head="Model",
)
