"""LW-DETR's backbone: a vision transformer that gives the features of several of its layers."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}."
HEADS = "num_attention_heads * (hidden_size // num_attention_heads)"
INNER = "scaled(hidden_size, mlp_ratio)"

#: What the detectors call the projections, and what the backbone by itself does.
WORDS = {
    "body": ("attention.query", "attention.key", "attention.value", "output"),
    "Backbone": ("q_proj", "k_proj", "v_proj", "o_proj"),
}


def attention() -> Iterator[Row]:
    for heads, (query, key, value, output) in WORDS.items():
        name = LAYER + "attention."
        yield Row("q_proj", name + query, f"{HEADS}, hidden_size", bias="qkv_bias", heads=heads)
        yield Row("k_proj", name + key, f"{HEADS}, hidden_size", heads=heads)
        yield Row("v_proj", name + value, f"{HEADS}, hidden_size", bias="qkv_bias", heads=heads)
        yield Row("o_proj", name + output, f"hidden_size, {HEADS}", bias="True", heads=heads)


FAMILY = Family(
    name="lw_detr_vit",
    types={"lw_detr_vit": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (pretrain_image_size // patch_size) ** 2 + 1, hidden_size",
            when="use_absolute_position_embeddings",
            leaf="",
        ),
        Row("input_layernorm", LAYER + "layernorm_before", "hidden_size", bias="True"),
        *attention(),
        Row("attention_scale", LAYER + "gamma_1", "hidden_size", leaf=""),
        Row("post_attention_layernorm", LAYER + "layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + "intermediate.fc1", f"{INNER}, hidden_size", bias="True"),
        Row("down_proj", LAYER + "intermediate.fc2", f"hidden_size, {INNER}", bias="True"),
        Row("feed_forward_scale", LAYER + "gamma_2", "hidden_size", leaf=""),
    ),
    head="Backbone",
    defaults={
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "mlp_ratio": 4,
        "pretrain_image_size": 224,
        "patch_size": 16,
        "num_channels": 3,
        "qkv_bias": True,
        "use_absolute_position_embeddings": True,
    },
    derived={"out_indices": "[num_hidden_layers]"},
)
