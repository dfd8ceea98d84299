"""Swin version 2: norms after the layers, cosines for scores, and places through a small network."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.families.convolutions import STAGES_GIVEN
from inspector.architectures.table import Family, Row

STAGE = "swinv2.encoder.layers.{layer<len(depths)}."
BLOCK = STAGE + "blocks.{block<depths[layer]}."
WIDTH = "embed_dim * 2 ** layer"
INNER = f"scaled({WIDTH}, mlp_ratio)"
LAST_WIDTH = "embed_dim * 2 ** (len(depths) - 1)"
#: The hidden width of the network that tells places.
PLACES = 512


def attention() -> Iterator[Row]:
    name = BLOCK + "attention.self."
    for role, word, bias in (("q_proj", "query", "qkv_bias"), ("k_proj", "key", ""), ("v_proj", "value", "qkv_bias")):
        yield Row(role, name + word, f"{WIDTH}, {WIDTH}", bias=bias)
    yield Row("o_proj", BLOCK + "attention.output.dense", f"{WIDTH}, {WIDTH}", bias="True")
    yield Row("logit_scale", name + "logit_scale", "num_heads[layer], 1, 1", leaf="", group="attention")
    places = name + "continuous_position_bias_mlp."
    yield Row("position_bias_mlp", places + "0", f"{PLACES}, 2", bias="True", group="attention")
    yield Row("position_bias_mlp", places + "2", f"num_heads[layer], {PLACES}", group="attention")


FAMILY = Family(
    name="swinv2",
    types={"swinv2": {}},
    rows=(
        Row(
            "embed_patches",
            "swinv2.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_norm", "swinv2.embeddings.norm", "embed_dim", bias="True"),
        Row(
            "embed_positions",
            "swinv2.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, embed_dim",
            when="use_absolute_embeddings",
            leaf="",
        ),
        *attention(),
        Row("post_attention_layernorm", BLOCK + "layernorm_before", WIDTH, bias="True"),
        Row("up_proj", BLOCK + "intermediate.dense", f"{INNER}, {WIDTH}", bias="True"),
        Row("down_proj", BLOCK + "output.dense", f"{WIDTH}, {INNER}", bias="True"),
        Row("post_feedforward_layernorm", BLOCK + "layernorm_after", WIDTH, bias="True"),
        Row("reduction", STAGE + "downsample.reduction", f"2 * {WIDTH}, 4 * {WIDTH}", when="layer < len(depths) - 1"),
        Row("norm", STAGE + "downsample.norm", f"2 * {WIDTH}", bias="True", when="layer < len(depths) - 1"),
        Row("layernorm", "swinv2.layernorm", LAST_WIDTH, bias="True", heads="body Model ForImageClassification"),
        Row("classifier", "classifier", f"num_labels, {LAST_WIDTH}", bias="True", heads="ForImageClassification"),
    ),
    prefix="swinv2.",
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
        "out_features": [],
    },
    derived={
        "hidden_size": LAST_WIDTH,
        "out_indices": STAGES_GIVEN["out_indices"],
        "channels": "[embed_dim * 2 ** max(out_indices[at] - 1, 0) for at in range(len(out_indices))]",
    },
    fields={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    head="Model",
)
