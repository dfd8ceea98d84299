"""PoolFormer: four stages of layers that mix by pooling, each after a convolution that cuts patches."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "poolformer.encoder.block.{layer<num_encoder_blocks}.{at<depths[layer]}"
WIDTH, INNER = "hidden_sizes[layer]", "scaled(hidden_sizes[layer], mlp_ratio)"
IMAGES = "ForImageClassification"

FAMILY = Family(
    name="poolformer",
    types={"poolformer": {}},
    rows=(
        Row(
            "embed_patches",
            "poolformer.encoder.patch_embeddings.{layer<num_encoder_blocks}.projection",
            f"{WIDTH}, hidden_sizes[layer - 1] if layer > 0 else num_channels, patch_sizes[layer], patch_sizes[layer]",
            bias="True",
        ),
        Row("before_norm", LAYER + ".before_norm", WIDTH, bias="True"),
        Row("layer_scale_1", LAYER + ".layer_scale_1", WIDTH, when="use_layer_scale", leaf=""),
        Row("after_norm", LAYER + ".after_norm", WIDTH, bias="True"),
        Row("up_proj", LAYER + ".output.conv1", f"{INNER}, {WIDTH}, 1, 1", bias="True"),
        Row("down_proj", LAYER + ".output.conv2", f"{WIDTH}, {INNER}, 1, 1", bias="True"),
        Row("layer_scale_2", LAYER + ".layer_scale_2", WIDTH, when="use_layer_scale", leaf=""),
        Row("norm", "norm", "hidden_sizes[-1]", bias="True", heads=IMAGES),
        Row("classifier", "classifier", "num_labels, hidden_sizes[-1]", bias="True", heads=IMAGES),
    ),
    prefix="poolformer.",
    defaults={
        "depths": [2, 2, 6, 2],
        "hidden_sizes": [64, 128, 320, 512],
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_encoder_blocks": 4,
        "patch_sizes": [7, 3, 3, 3],
        "use_layer_scale": True,
    },
    head="Model",
)
