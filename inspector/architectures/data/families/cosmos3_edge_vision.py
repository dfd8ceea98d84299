"""Cosmos 3 Edge's vision tower: SigLIP 2's, with words of its own in classes that have a text model too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.architectures.data.families.cosmos3_edge_text import OWN, PUBLISHED
from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}."


def linear(words: Mapping[str, str], heads: str) -> Iterator[Row]:
    """The layers whose names go by the class."""
    for role in ("q_proj", "k_proj", "v_proj"):
        yield Row(role, f"{LAYER}self_attn.{words[role]}", "hidden_size, hidden_size", bias="True", heads=heads)
    for role, shape in (("up_proj", "intermediate_size, hidden_size"), ("down_proj", "hidden_size, intermediate_size")):
        yield Row(role, f"{LAYER}mlp.{words[role]}", shape, bias="True", heads=heads)


FAMILY = Family(
    name="cosmos3_edge_vision",
    types={"cosmos3_edge_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels * patch_size * patch_size",
            bias="True",
        ),
        Row("embed_positions", "embeddings.position_embedding", "num_patches, hidden_size"),
        Row("input_layernorm", LAYER + "layer_norm1", "hidden_size", bias="True"),
        *linear(OWN, "Model"),
        *linear(PUBLISHED, "Published"),
        Row("o_proj", LAYER + "self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + "layer_norm2", "hidden_size", bias="True"),
        Row("norm", "post_layernorm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_channels": 3,
        "num_hidden_layers": 27,
        "num_patches": 256,
        "patch_size": 16,
        "spatial_merge_size": 2,
    },
    head="Model",
)
