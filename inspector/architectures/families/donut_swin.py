"""Model type donut-swin.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DONUT_ENCODER = "donut.encoder.layers.{layer<len(depths)}"
DONUT_ENCODER_ = "donut.encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"

FAMILY = Family(
    name="donut-swin",
    types={"donut-swin": {}},
    rows=(
        Row(
            "embed_patches",
            "donut.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_norm", "donut.embeddings.norm", "embed_dim", bias="True"),
        Row(
            "embed_positions",
            "donut.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        Row("input_layernorm", DONUT_ENCODER_ + ".layernorm_before", "2 ** layer * embed_dim", bias="True"),
        Row(
            "q_proj",
            DONUT_ENCODER_ + ".attention.self.query",
            "num_heads[layer] * (2 ** layer * embed_dim // num_heads[layer]), num_heads[layer] * (2 ** layer * embed_dim // num_heads[layer])",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            DONUT_ENCODER_ + ".attention.self.key",
            "num_heads[layer] * (2 ** layer * embed_dim // num_heads[layer]), num_heads[layer] * (2 ** layer * embed_dim // num_heads[layer])",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            DONUT_ENCODER_ + ".attention.self.value",
            "num_heads[layer] * (2 ** layer * embed_dim // num_heads[layer]), num_heads[layer] * (2 ** layer * embed_dim // num_heads[layer])",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            DONUT_ENCODER_ + ".attention.output.dense",
            "2 ** layer * embed_dim, 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "relative_position_bias_table",
            DONUT_ENCODER_ + ".attention.self.relative_position_bias_table",
            "(2 * window_size - 1) ** 2, num_heads[layer]",
            leaf="",
            group="attention",
        ),
        Row(
            "reduction",
            DONUT_ENCODER + ".downsample.reduction",
            "2 * 2 ** layer * embed_dim, 4 * 2 ** layer * embed_dim",
            when="(layer + 1) % num_layers != 0",
        ),
        Row(
            "norm",
            DONUT_ENCODER + ".downsample.norm",
            "4 * 2 ** layer * embed_dim",
            bias="True",
            when="(layer + 1) % num_layers != 0",
        ),
        Row("post_attention_layernorm", DONUT_ENCODER_ + ".layernorm_after", "2 ** layer * embed_dim", bias="True"),
        Row(
            "up_proj",
            DONUT_ENCODER_ + ".intermediate.dense",
            "scaled(2 ** layer * embed_dim, mlp_ratio), 2 ** layer * embed_dim",
            bias="True",
        ),
        Row(
            "down_proj",
            DONUT_ENCODER_ + ".output.dense",
            "2 ** layer * embed_dim, scaled(2 ** layer * embed_dim, mlp_ratio)",
            bias="True",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, 2 ** (len(depths) - 1) * embed_dim",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "relative_position_index",
            DONUT_ENCODER_ + ".attention.self.relative_position_index",
            "window_size if not window_size else window_size ** 2, window_size if not window_size else window_size ** 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="donut.",
    defaults={
        "depths": [2, 2, 6, 2],
        "embed_dim": 96,
        "image_size": 224,
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_heads": [3, 6, 12, 24],
        "patch_size": 4,
        "qkv_bias": True,
        "use_absolute_embeddings": False,
        "window_size": 7,
    },
    derived={"num_layers": "len(depths)", "hidden_size": "embed_dim * 2 ** (len(depths) - 1)"},
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    head="Model",
)
