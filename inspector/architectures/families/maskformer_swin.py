"""Model type maskformer-swin.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<len(depths)}"
ENCODER_ = "encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"

FAMILY = Family(
    name="maskformer-swin",
    types={"maskformer-swin": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_norm", "embeddings.norm", "embed_dim", bias="True"),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        Row("input_layernorm", ENCODER_ + ".layernorm_before", "embed_dim * 2 ** layer", bias="True"),
        Row(
            "q_proj",
            ENCODER_ + ".attention.self.query",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            ENCODER_ + ".attention.self.key",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            ENCODER_ + ".attention.self.value",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            ENCODER_ + ".attention.output.dense",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="True",
        ),
        Row(
            "relative_position_bias_table",
            ENCODER_ + ".attention.self.relative_position_bias_table",
            "(2 * window_size - 1) ** 2, num_heads[layer]",
            leaf="",
            group="attention",
        ),
        Row(
            "reduction",
            ENCODER + ".downsample.reduction",
            "embed_dim * 2 ** (layer + 1), 4 * embed_dim * 2 ** layer",
            when="stage_names[layer] != 'stage3'",
        ),
        Row(
            "norm",
            ENCODER + ".downsample.norm",
            "4 * embed_dim * 2 ** layer",
            bias="True",
            when="stage_names[layer] != 'stage3'",
        ),
        Row("post_attention_layernorm", ENCODER_ + ".layernorm_after", "embed_dim * 2 ** layer", bias="True"),
        Row(
            "up_proj",
            ENCODER_ + ".intermediate.dense",
            "scaled(embed_dim * 2 ** layer, mlp_ratio), embed_dim * 2 ** layer",
            bias="True",
        ),
        Row(
            "down_proj",
            ENCODER_ + ".output.dense",
            "embed_dim * 2 ** layer, scaled(embed_dim * 2 ** layer, mlp_ratio)",
            bias="True",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True"),
        Row(
            "relative_position_index",
            ENCODER_ + ".attention.self.relative_position_index",
            "window_size ** 2, window_size ** 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "depths": [2, 2, 6, 2],
        "embed_dim": 96,
        "image_size": 224,
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_heads": [3, 6, 12, 24],
        "patch_size": 4,
        "qkv_bias": True,
        "stage_names": ["stem", "stage1", "stage2", "stage3", "stage4"],
        "use_absolute_embeddings": False,
        "window_size": 7,
    },
    derived={"hidden_size": "8 * embed_dim"},
    fields={"num_attention_heads": "num_heads"},
    head="Model",
)
