"""PVT v2: stages of attention over fewer and fewer places, with convolutions in the feed-forward."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STAGE = "pvt_v2.encoder.layers.{layer<num_encoder_blocks}"
BLOCK = STAGE + ".blocks.{block<depths[layer]}"
WIDTH, INNER = "hidden_sizes[layer]", "scaled(hidden_sizes[layer], mlp_ratios[layer])"
SQUARE = f"{WIDTH}, {WIDTH}"
REDUCED = "linear_attention or sr_ratios[layer] > 1"
RATIO = "1 if linear_attention else sr_ratios[layer]"

FAMILY = Family(
    name="pvt_v2",
    types={"pvt_v2": {}},
    rows=(
        Row(
            "embed_patches",
            STAGE + ".patch_embedding.proj",
            f"{WIDTH}, hidden_sizes[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
        ),
        Row("embed_norm", STAGE + ".patch_embedding.layer_norm", WIDTH, bias="True"),
        Row("input_layernorm", BLOCK + ".layer_norm_1", WIDTH, bias="True"),
        Row("q_proj", BLOCK + ".attention.query", SQUARE, bias="qkv_bias"),
        Row("k_proj", BLOCK + ".attention.key", SQUARE, bias="qkv_bias"),
        Row("v_proj", BLOCK + ".attention.value", SQUARE, bias="qkv_bias"),
        Row("o_proj", BLOCK + ".attention.proj", SQUARE, bias="True"),
        Row(
            "spatial_reduction",
            BLOCK + ".attention.spatial_reduction",
            f"{SQUARE}, {RATIO}, {RATIO}",
            bias="True",
            when=REDUCED,
            group="attention",
        ),
        Row("layer_norm", BLOCK + ".attention.layer_norm", WIDTH, bias="True", when=REDUCED),
        Row("post_attention_layernorm", BLOCK + ".layer_norm_2", WIDTH, bias="True"),
        Row("up_proj", BLOCK + ".mlp.dense1", f"{INNER}, {WIDTH}", bias="True"),
        Row("dwconv", BLOCK + ".mlp.dwconv.dwconv", f"{INNER}, 1, 3, 3", bias="True"),
        Row("down_proj", BLOCK + ".mlp.dense2", f"{WIDTH}, {INNER}", bias="True"),
        Row("norm", STAGE + ".layer_norm", WIDTH, bias="True"),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads="ForImageClassification"),
    ),
    prefix="pvt_v2.",
    prefixes={"Backbone": ""},
    classes={"PvtV2Backbone": "Backbone"},
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
    head="Model",
)
