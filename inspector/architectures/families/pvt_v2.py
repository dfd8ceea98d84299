"""Model type pvt_v2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<num_encoder_blocks}"
ENCODER_ = "encoder.layers.{layer<num_encoder_blocks}.blocks.{block<depths[layer]}"
PVT_V2_ENCODER = "pvt_v2.encoder.layers.{layer<num_encoder_blocks}"
PVT_V2_ENCODER_ = "pvt_v2.encoder.layers.{layer<num_encoder_blocks}.blocks.{block<2}"

FAMILY = Family(
    name="pvt_v2",
    types={"pvt_v2": {}},
    rows=(
        Row(
            "q_proj",
            ENCODER_ + ".attention.query",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            ENCODER_ + ".attention.key",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            ENCODER_ + ".attention.value",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "proj",
            ENCODER + ".patch_embedding.proj",
            "hidden_sizes[layer], hidden_sizes[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
            heads="Model",
            group="embedding",
        ),
        Row("layer_norm", ENCODER + ".patch_embedding.layer_norm", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row("layer_norm_1", ENCODER_ + ".layer_norm_1", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row(
            "proj",
            ENCODER_ + ".attention.proj",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
            heads="Model",
            group="attention",
        ),
        Row(
            "spatial_reduction",
            ENCODER_ + ".attention.spatial_reduction",
            "hidden_sizes[layer], hidden_sizes[layer], 1 if linear_attention else sr_ratios[layer], 1 if linear_attention else sr_ratios[layer]",
            bias="True",
            when="layer not in out_indices",
            heads="Model",
            group="attention",
        ),
        Row(
            "layer_norm",
            ENCODER_ + ".attention.layer_norm",
            "hidden_sizes[layer]",
            bias="True",
            when="layer not in out_indices",
            heads="Model",
        ),
        Row("layer_norm_2", ENCODER_ + ".layer_norm_2", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row(
            "dense1",
            ENCODER_ + ".mlp.dense1",
            "hidden_sizes[layer] * mlp_ratios[layer], hidden_sizes[layer]",
            bias="True",
            heads="Model",
            group="feed_forward",
        ),
        Row(
            "dwconv",
            ENCODER_ + ".mlp.dwconv.dwconv",
            "hidden_sizes[layer] * mlp_ratios[layer], 1, 3, 3",
            bias="True",
            heads="Model",
        ),
        Row(
            "dense2",
            ENCODER_ + ".mlp.dense2",
            "hidden_sizes[layer], hidden_sizes[layer] * mlp_ratios[layer]",
            bias="True",
            heads="Model",
            group="feed_forward",
        ),
        Row("encoder_layer_norm", ENCODER + ".layer_norm", "hidden_sizes[layer]", bias="True", heads="Model"),
        Row(
            "patch_embedding_proj",
            PVT_V2_ENCODER + ".patch_embedding.proj",
            "hidden_sizes[layer], num_channels if stage_names[layer] == 'stage1' else hidden_sizes[layer - 1], patch_sizes[layer], patch_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "patch_embedding_layer_norm",
            PVT_V2_ENCODER + ".patch_embedding.layer_norm",
            "hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "encoder_layer_norm_1",
            PVT_V2_ENCODER_ + ".layer_norm_1",
            "hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "query_q_proj",
            PVT_V2_ENCODER_ + ".attention.query",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "key_k_proj",
            PVT_V2_ENCODER_ + ".attention.key",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "value_v_proj",
            PVT_V2_ENCODER_ + ".attention.value",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "attention_proj",
            PVT_V2_ENCODER_ + ".attention.proj",
            "hidden_sizes[layer], hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "attention_spatial_reduction",
            PVT_V2_ENCODER_ + ".attention.spatial_reduction",
            "hidden_sizes[layer], hidden_sizes[layer], sr_ratios[layer], sr_ratios[layer]",
            bias="True",
            when="layer not in patch_sizes",
            heads="ForImageClassification",
        ),
        Row(
            "attention_layer_norm",
            PVT_V2_ENCODER_ + ".attention.layer_norm",
            "hidden_sizes[layer]",
            bias="True",
            when="layer not in patch_sizes",
            heads="ForImageClassification",
        ),
        Row(
            "encoder_layer_norm_2",
            PVT_V2_ENCODER_ + ".layer_norm_2",
            "hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "mlp_dense1",
            PVT_V2_ENCODER_ + ".mlp.dense1",
            "hidden_sizes[layer] * mlp_ratios[layer], hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dwconv_dwconv",
            PVT_V2_ENCODER_ + ".mlp.dwconv.dwconv",
            "hidden_sizes[layer] * mlp_ratios[layer], 1, num_channels, num_channels",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "mlp_dense2",
            PVT_V2_ENCODER_ + ".mlp.dense2",
            "hidden_sizes[layer], hidden_sizes[layer] * mlp_ratios[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "pvt_v2_encoder_layer_norm",
            PVT_V2_ENCODER + ".layer_norm",
            "hidden_sizes[layer]",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    defaults={
        "depths": [2, 2, 2, 2],
        "hidden_sizes": [32, 64, 160, 256],
        "linear_attention": False,
        "mlp_ratios": [8, 8, 4, 4],
        "num_channels": 3,
        "num_encoder_blocks": 4,
        "patch_sizes": [7, 3, 3, 3],
        "qkv_bias": True,
        "sr_ratios": [8, 4, 2, 1],
    },
    derived={
        "out_indices": "[3 for layer in range(1)]",
        "stage_names": "['stage1' if layer == 0 else 'stage2' if layer == 1 else 'stage3' if layer == 2 else 'stage4' for layer in range(4)]",
    },
    head="Model",
)
