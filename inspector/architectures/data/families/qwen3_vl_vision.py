"""Qwen3-VL's vision tower: mergers hand over the features of some layers besides those of the last."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<depth}"
MERGED = "hidden_size * spatial_merge_size ** 2"
DEEPSTACK = "{merger<len(deepstack_visual_indexes)}"

PATCHES = (
    Row(
        "embed_patches",
        "patch_embed.proj",
        "hidden_size, in_channels, temporal_patch_size, patch_size, patch_size",
        bias="True",
    ),
    Row("embed_positions", "pos_embed", "num_position_embeddings, hidden_size"),
)
BLOCKS = (
    Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
    Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="True"),
    Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
    Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
    Row("up_proj", LAYER + ".mlp.linear_fc1", "intermediate_size, hidden_size", bias="True"),
    Row("down_proj", LAYER + ".mlp.linear_fc2", "hidden_size, intermediate_size", bias="True"),
)


def merger(at: str, width: str) -> Iterator[Row]:
    """Neighbouring patches become one, as wide as the text; the norm is before or after they are put together."""
    yield Row("merger_norm", at + ".norm", width, bias="True", tower="projector")
    yield Row("linear_1", at + ".linear_fc1", f"{MERGED}, {MERGED}", bias="True", tower="projector")
    yield Row("linear_2", at + ".linear_fc2", f"out_hidden_size, {MERGED}", bias="True", tower="projector")


FAMILY = Family(
    name="qwen3_vl_vision",
    types={"qwen3_vl_vision": {}, "qwen3_vl_moe_vision": {}},
    rows=(
        *PATCHES,
        *BLOCKS,
        *merger("deepstack_merger_list." + DEEPSTACK, MERGED),
        *merger("merger", "hidden_size"),
    ),
    defaults={
        "deepstack_visual_indexes": [8, 16, 24],
        "depth": 27,
        "hidden_size": 1152,
        "in_channels": 3,
        "intermediate_size": 4304,
        "num_position_embeddings": 2304,
        "out_hidden_size": 3584,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    },
    fields={"num_hidden_layers": "depth"},
    head="Model",
)
