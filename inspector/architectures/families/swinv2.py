"""Model type swinv2.

Each stage is twice as wide as the one before, and all but the last end with half as many patches a side.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<len(depths)}"
ENCODER_ = "encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"
SWINV2_ENCODER = "swinv2.encoder.layers.{layer<len(depths)}"
SWINV2_ENCODER_ = "swinv2.encoder.layers.{layer<len(depths)}.blocks.{block<depths[layer]}"

FAMILY = Family(
    name="swinv2",
    types={"swinv2": {}},
    rows=(
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, embed_dim",
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
            "k_proj", ENCODER_ + ".attention.self.key", "embed_dim * 2 ** layer, embed_dim * 2 ** layer", heads="Model"
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
            "logit_scale",
            ENCODER_ + ".attention.self.logit_scale",
            "num_heads[layer], 1, 1",
            heads="Model",
            leaf="",
            group="head",
        ),
        Row(
            "continuous_position_bias_mlp",
            ENCODER_ + ".attention.self.continuous_position_bias_mlp.0",
            "512, 2",
            bias="True",
            heads="Model",
            group="attention",
        ),
        Row(
            "continuous_position_bias_mlp",
            ENCODER_ + ".attention.self.continuous_position_bias_mlp.2",
            "num_heads[layer], 512",
            heads="Model",
            group="attention",
        ),
        Row(
            "reduction",
            ENCODER + ".downsample.reduction",
            "embed_dim * 2 ** (layer + 1), 4 * embed_dim * 2 ** layer",
            when="layer < len(depths) - 1",
            heads="Model",
        ),
        Row(
            "norm",
            ENCODER + ".downsample.norm",
            "embed_dim * 2 ** (layer + 1)",
            bias="True",
            when="layer < len(depths) - 1",
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
            "self_logit_scale",
            SWINV2_ENCODER_ + ".attention.self.logit_scale",
            "num_heads[layer], 1, 1",
            heads="ForImageClassification",
            leaf="",
            group="head",
        ),
        Row(
            "self_continuous_position_bias_mlp",
            SWINV2_ENCODER_ + ".attention.self.continuous_position_bias_mlp.0",
            "512, 2",
            bias="True",
            heads="ForImageClassification",
            group="attention",
        ),
        Row(
            "self_continuous_position_bias_mlp",
            SWINV2_ENCODER_ + ".attention.self.continuous_position_bias_mlp.2",
            "num_heads[layer], 512",
            heads="ForImageClassification",
            group="attention",
        ),
        Row(
            "query_q_proj",
            SWINV2_ENCODER_ + ".attention.self.query",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
            heads="ForImageClassification",
        ),
        Row(
            "key_k_proj",
            SWINV2_ENCODER_ + ".attention.self.key",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            heads="ForImageClassification",
        ),
        Row(
            "value_v_proj",
            SWINV2_ENCODER_ + ".attention.self.value",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="qkv_bias",
            heads="ForImageClassification",
        ),
        Row(
            "dense_o_proj",
            SWINV2_ENCODER_ + ".attention.output.dense",
            "embed_dim * 2 ** layer, embed_dim * 2 ** layer",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "layernorm_before_input_layernorm",
            SWINV2_ENCODER_ + ".layernorm_before",
            "embed_dim * 2 ** layer",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_up_proj",
            SWINV2_ENCODER_ + ".intermediate.dense",
            "scaled(embed_dim * 2 ** layer, mlp_ratio), embed_dim * 2 ** layer",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_down_proj",
            SWINV2_ENCODER_ + ".output.dense",
            "embed_dim * 2 ** layer, scaled(embed_dim * 2 ** layer, mlp_ratio)",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            SWINV2_ENCODER_ + ".layernorm_after",
            "embed_dim * 2 ** layer",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "downsample_reduction",
            SWINV2_ENCODER + ".downsample.reduction",
            "embed_dim * 2 ** (layer + 1), 4 * embed_dim * 2 ** layer",
            when="layer < len(depths) - 1",
            heads="ForImageClassification",
        ),
        Row(
            "downsample_norm",
            SWINV2_ENCODER + ".downsample.norm",
            "embed_dim * 2 ** (layer + 1)",
            bias="True",
            when="layer < len(depths) - 1",
            heads="ForImageClassification",
        ),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row("embed_norm", "embeddings.norm", "embed_dim", bias="True", heads="Model"),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row(
            "projection_embed_patches",
            "swinv2.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("norm_embed_norm", "swinv2.embeddings.norm", "embed_dim", bias="True", heads="ForImageClassification"),
        Row("swinv2_layernorm", "swinv2.layernorm", "hidden_size", bias="True", heads="ForImageClassification"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForImageClassification"),
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
        "use_absolute_embeddings": False,
    },
    derived={"hidden_size": "embed_dim * 2 ** (len(depths) - 1)", "num_layers": "len(depths)"},
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    head="Model",
)
