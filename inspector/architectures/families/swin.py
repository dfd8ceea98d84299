"""Model type swin.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<len(depths)}"
ENCODER_ = "encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"
SWIN_ENCODER = "swin.encoder.layers.{layer<len(depths)}"
SWIN_ENCODER_ = "swin.encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"

FAMILY = Family(
    name="swin",
    types={"swin": {}},
    rows=(
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2, embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        Row("input_layernorm", ENCODER_ + ".layernorm_before", "embed_dim * 2 ** layer", bias="True", heads="Model"),
        Row(
            "q_proj",
            ENCODER_ + ".attention.self.query",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            ENCODER_ + ".attention.self.key",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            ENCODER_ + ".attention.self.value",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "o_proj",
            ENCODER_ + ".attention.output.dense",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="True",
            heads="Model",
        ),
        Row(
            "relative_position_bias_table",
            ENCODER_ + ".attention.self.relative_position_bias_table",
            "(2 * window_size - 1) ** 2, num_heads[layer]",
            heads="Model",
            leaf="",
            group="attention",
        ),
        Row(
            "norm",
            ENCODER + ".downsample.norm",
            "4 * embed_dim * 2 ** layer",
            bias="True",
            when="stage_names[layer] != 'stage3'",
            heads="Model",
        ),
        Row(
            "reduction",
            ENCODER + ".downsample.reduction",
            "embed_dim * 2 ** (layer + 1), 4 * embed_dim * 2 ** layer",
            when="stage_names[layer] != 'stage3'",
            heads="Model",
        ),
        Row(
            "post_attention_layernorm",
            ENCODER_ + ".layernorm_after",
            "embed_dim * 2 ** layer",
            bias="True",
            heads="Model",
        ),
        Row(
            "up_proj",
            ENCODER_ + ".intermediate.dense",
            "scaled(embed_dim * 2 ** layer, mlp_ratio), embed_dim * 2 ** layer",
            bias="True",
            heads="Model",
        ),
        Row(
            "down_proj",
            ENCODER_ + ".output.dense",
            "embed_dim * 2 ** layer, scaled(embed_dim * 2 ** layer, mlp_ratio)",
            bias="True",
            heads="Model",
        ),
        Row(
            "key_k_proj",
            SWIN_ENCODER_ + ".attention.self.key",
            "32 * num_heads[layer], 32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_o_proj",
            SWIN_ENCODER_ + ".attention.output.dense",
            "32 * num_heads[layer], 32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "query_q_proj",
            SWIN_ENCODER_ + ".attention.self.query",
            "32 * num_heads[layer], 32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "self_relative_position_bias_table",
            SWIN_ENCODER_ + ".attention.self.relative_position_bias_table",
            "169, num_heads[layer]",
            heads="ForImageClassification",
            leaf="",
            group="attention",
        ),
        Row(
            "value_v_proj",
            SWIN_ENCODER_ + ".attention.self.value",
            "32 * num_heads[layer], 32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            SWIN_ENCODER_ + ".layernorm_after",
            "32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "layernorm_before_input_layernorm",
            SWIN_ENCODER_ + ".layernorm_before",
            "32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_up_proj",
            SWIN_ENCODER_ + ".intermediate.dense",
            "32 * 4 * num_heads[layer], 32 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_down_proj",
            SWIN_ENCODER_ + ".output.dense",
            "32 * num_heads[layer], 32 * 4 * num_heads[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "downsample_norm",
            SWIN_ENCODER + ".downsample.norm",
            "32 * 4 * num_heads[layer]",
            bias="True",
            when="layer not in num_heads",
            heads="ForImageClassification",
        ),
        Row(
            "downsample_reduction",
            SWIN_ENCODER + ".downsample.reduction",
            "32 * num_heads[layer + 1], 32 * 4 * num_heads[layer]",
            when="layer not in num_heads",
            heads="ForImageClassification",
        ),
        Row("embed_norm", "embeddings.norm", "embed_dim", bias="True", heads="Model"),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForImageClassification"),
        Row("norm_embed_norm", "swin.embeddings.norm", "embed_dim", bias="True", heads="ForImageClassification"),
        Row(
            "projection_embed_patches",
            "swin.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("swin_layernorm", "swin.layernorm", "hidden_size", bias="True", heads="ForImageClassification"),
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
