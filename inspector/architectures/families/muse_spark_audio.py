"""Model type muse_spark_audio.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<len(depths)}"
CONV_BLOCKS = "layers.{layer<len(depths)}.conv_blocks.{conv_block<depths[layer]}"

FAMILY = Family(
    name="muse_spark_audio",
    types={"muse_spark_audio": {}},
    rows=(
        Row(
            "proj",
            LAYER + ".patch_embedder.proj",
            "hidden_sizes[layer], patch_sizes[layer] * hidden_sizes[layer - 1] if layer > 0 else patch_sizes[0]",
            bias="True",
            group="embedding",
        ),
        Row("norm", LAYER + ".patch_embedder.norm", "hidden_sizes[layer]"),
        Row("conv", CONV_BLOCKS + ".conv", "hidden_sizes[layer], 1, conv_kernel_size", bias="True"),
        Row("norm", CONV_BLOCKS + ".norm", "hidden_sizes[layer]"),
        Row(
            "up_proj",
            CONV_BLOCKS + ".mlp.fc1",
            "scaled(hidden_sizes[layer], mlp_ratio), hidden_sizes[layer]",
            bias="True",
        ),
        Row(
            "down_proj",
            CONV_BLOCKS + ".mlp.fc2",
            "hidden_sizes[layer], scaled(hidden_sizes[layer], mlp_ratio)",
            bias="True",
        ),
        Row("norm", "norm", "hidden_sizes[-1]"),
        Row("proj", "proj", "out_hidden_size, hidden_sizes[-1]", bias="True"),
        Row("post_proj_norm", "post_proj_norm", "out_hidden_size"),
    ),
    defaults={
        "conv_kernel_size": 7,
        "depths": [2, 2, 2, 2],
        "hidden_sizes": [256, 512, 1024, 2048],
        "mlp_ratio": 4.0,
        "out_hidden_size": 8192,
        "patch_sizes": [16, 6, 5, 4],
    },
    head="Model",
)
