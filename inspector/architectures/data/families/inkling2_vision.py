"""Inkling 2's vision tower, and the layers that make of neighbouring patches one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.architectures.table import Family, Row

#: Class suffixes as which a whole model reads its tower: under the published names, or half under the tower's own.
PUBLISHED, HALF = "Published", "Half"
#: What the names of the tower alone are called within a whole: conversion_mapping.py.
WORDS: Mapping[str, str] = {
    "layernorm_before": "ln_1",
    "layernorm_after": "ln_2",
    "lambda_1": "ls_1.gamma",
    "lambda_2": "ls_2.gamma",
    "mlp.fc1": "mlp.c_fc",
    "mlp.fc2": "mlp.c_proj",
}
OUTER: Mapping[str, str] = {
    "embeddings": "backbone.embeddings",
    "layers": "backbone.layers",
    "merger.linear_1": "proj_in",
    "merger.linear_2": "proj_out",
    "pre_layernorm": "backbone.ln_pre",
}
LAYER = "layers.{layer<num_hidden_layers}."
SQUARE = "hidden_size, hidden_size"


def linear(role: str, name: str, shape: str) -> Row:
    return Row(role, LAYER + name, shape, bias="True")


OWN = (
    Row("embed_class", "embeddings.class_embedding", "hidden_size", leaf=""),
    Row("embed_class_position", "embeddings.cls_position_embedding", "hidden_size", leaf=""),
    Row("embed_patches", "embeddings.patch_embedding", "hidden_size, num_channels * patch_size ** 2"),
    Row("embed_positions", "embeddings.position_embedding", "posemb_grid_size ** 2, hidden_size"),
    Row("embed_norm", "pre_layernorm", "hidden_size", bias="True"),
    linear("input_layernorm", "layernorm_before", "hidden_size"),
    linear("q_proj", "self_attn.q_proj", SQUARE),
    linear("k_proj", "self_attn.k_proj", SQUARE),
    linear("v_proj", "self_attn.v_proj", SQUARE),
    linear("o_proj", "self_attn.out_proj", SQUARE),
    Row("attention_scale", LAYER + "lambda_1", "hidden_size", leaf=""),
    linear("post_attention_layernorm", "layernorm_after", "hidden_size"),
    linear("up_proj", "mlp.fc1", "intermediate_size, hidden_size"),
    linear("down_proj", "mlp.fc2", "hidden_size, intermediate_size"),
    Row("mlp_scale", LAYER + "lambda_2", "hidden_size", leaf=""),
    Row(
        "linear_1",
        "merger.linear_1",
        "projection_hidden_dim, hidden_size * spatial_merge_size ** 2",
        bias="projector_bias",
        tower="projector",
    ),
    Row(
        "linear_2",
        "merger.linear_2",
        "text_hidden_size, projection_hidden_dim",
        bias="projector_bias",
        tower="projector",
    ),
)


def within(heads: str, outer: Mapping[str, str]) -> Iterator[Row]:
    """The tower under the names that it has within a whole."""
    for row in OWN:
        name = row.name
        for old, new in WORDS.items():
            name = name.removesuffix(old) + new if name.endswith("." + old) else name
        for old, new in outer.items():
            name = new + name.removeprefix(old) if name.startswith(old) else name
        leaf = "" if row.role == "embed_positions" else row.leaf
        yield row._replace(name=name, leaf=leaf, heads=heads)


FAMILY = Family(
    name="inkling2_vision",
    types={"inkling2_vision": {}},
    rows=(
        *(row._replace(heads="Model") for row in OWN),
        *within(PUBLISHED, OUTER),
        *within(HALF, {}),
    ),
    head="Model",
    defaults={
        "hidden_size": 1024,
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_hidden_layers": 23,
        "patch_size": 20,
        "posemb_grid_size": 32,
        "projection_hidden_dim": 4096,
        "projector_bias": False,
        "spatial_merge_size": 2,
        "text_hidden_size": 4608,
    },
    derived={"intermediate_size": "scaled(hidden_size, mlp_ratio)"},
    fields={"adapter_merge_size": "spatial_merge_size", "native_patch_size": "patch_size"},
)
