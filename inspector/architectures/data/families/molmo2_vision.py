"""Molmo2's vision tower."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

BLOCK = "transformer.resblocks.{layer<num_hidden_layers}"


def attention(at: str, into: str, config: str = "", tower: str = "text") -> Iterator[Row]:
    """Grouped queries; `config` is the field of the nested configuration, with its dot."""
    keys = f"{config}num_key_value_heads * {config}head_dim, {into}"
    queries = f"{config}num_attention_heads * {config}head_dim"
    for role, word, shape in (
        ("q_proj", "wq", f"{queries}, {into}"),
        ("k_proj", "wk", keys),
        ("v_proj", "wv", keys),
        ("o_proj", "wo", f"{config}hidden_size, {queries}"),
    ):
        yield Row(role, f"{at}.{word}", shape, bias=config + "attention_bias", tower=tower)


FAMILY = Family(
    name="molmo2_vision",
    types={"molmo2_vision": {}},
    rows=(
        Row("embed_patches", "patch_embedding", "hidden_size, num_channels * patch_size ** 2", bias="True"),
        Row("embed_positions", "positional_embedding", "num_position_embeddings, hidden_size", leaf=""),
        Row("input_layernorm", BLOCK + ".attention_norm", "hidden_size", bias="True"),
        *attention(BLOCK + ".attention", "hidden_size"),
        Row("post_attention_layernorm", BLOCK + ".ffn_norm", "hidden_size", bias="True"),
        Row("up_proj", BLOCK + ".feed_forward.w1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", BLOCK + ".feed_forward.w2", "hidden_size, intermediate_size", bias="True"),
    ),
    head="Model",
    defaults={
        "attention_bias": True,
        "head_dim": 72,
        "hidden_size": 1152,
        "image_size": [378, 378],
        "intermediate_size": 4304,
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_hidden_layers": 25,
        "num_key_value_heads": 16,
        "patch_size": 14,
    },
    derived={"num_position_embeddings": "(image_size[0] // patch_size) * (image_size[1] // patch_size)"},
    fields={  # words of the published configuration
        "image_default_input_size": "image_size",
        "image_num_pos": "num_position_embeddings",
        "image_patch_size": "patch_size",
    },
)
