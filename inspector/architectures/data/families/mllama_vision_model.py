"""Llama 3.2 Vision's tower: a transformer over each tile, and a gated one over all tiles of an image."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

HEADS, OUT = "attention_heads * head_dim, hidden_size", "hidden_size, attention_heads * head_dim"
RATIOS = "len(supported_aspect_ratios) + 1"
POSITIONS = "(image_size // patch_size) ** 2 + 1"
GLOBAL = "global_vision"


def layers(name: str, number: str, tower: str, gated: bool = False) -> Iterator[Row]:
    """The layers of one of the two transformers."""
    layer = f"{name}.layers.{{layer<{number}}}"
    yield Row("input_layernorm", layer + ".input_layernorm", "hidden_size", bias="True", tower=tower)
    for role in ("q_proj", "k_proj", "v_proj"):
        yield Row(role, f"{layer}.self_attn.{role}", HEADS, tower=tower)
    yield Row("o_proj", layer + ".self_attn.o_proj", OUT, tower=tower)
    yield Row("post_attention_layernorm", layer + ".post_attention_layernorm", "hidden_size", bias="True", tower=tower)
    yield Row("up_proj", layer + ".mlp.fc1", "intermediate_size, hidden_size", bias="True", tower=tower)
    yield Row("down_proj", layer + ".mlp.fc2", "hidden_size, intermediate_size", bias="True", tower=tower)
    if gated:
        yield Row("gate_attn", layer + ".gate_attn", "1", tower=tower, leaf="")
        yield Row("gate_ffn", layer + ".gate_ffn", "1", tower=tower, leaf="", group="feed_forward")


def tiles(word: str) -> Iterator[Row]:
    """What is added to every patch of a tile, by the image's aspect ratio."""
    name = f"{word}_tile_positional_embedding"
    yield Row(f"embed_{word}_tile", name + ".embedding", f"{RATIOS}, max_num_tiles * hidden_size")
    yield Row(f"embed_{word}_tile_gate", name + ".gate", "1", leaf="")


FAMILY = Family(
    name="mllama_vision_model",
    types={"mllama_vision_model": {}},
    rows=(
        Row("embed_class", "class_embedding", "hidden_size", leaf=""),
        Row("embed_patches", "patch_embedding", "hidden_size, num_channels, patch_size, patch_size"),
        Row("embed_positions", "gated_positional_embedding.embedding", f"{POSITIONS}, hidden_size", leaf=""),
        Row("embed_positions_gate", "gated_positional_embedding.gate", "1", leaf=""),
        Row(
            "embed_tile_positions",
            "gated_positional_embedding.tile_embedding",
            f"{RATIOS}, max_num_tiles * ({POSITIONS}) * hidden_size",
        ),
        *tiles("pre"),
        *tiles("post"),
        Row("embed_norm", "layernorm_pre", "hidden_size", bias="True"),
        *layers("transformer", "num_hidden_layers", "text"),
        Row("norm", "layernorm_post", "hidden_size", bias="True"),
        *layers("global_transformer", "num_global_layers", GLOBAL, gated=True),
    ),
    head="Model",
    defaults={
        "attention_heads": 16,
        "hidden_size": 1280,
        "image_size": 448,
        "intermediate_size": 5120,
        "max_num_tiles": 4,
        "num_channels": 3,
        "num_global_layers": 8,
        "num_hidden_layers": 32,
        "patch_size": 14,
        "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]],
    },
    derived={"head_dim": "hidden_size // attention_heads"},
    fields={"num_attention_heads": "attention_heads"},
)
