"""Model types qwen3_vl_vision, qwen3_vl_moe_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<depth}"
DEEPSTACK_MERGER_LIST = "deepstack_merger_list.{layer<3}"

FAMILY = Family(
    name="qwen3_vl_vision",
    types={"qwen3_vl_vision": {}, "qwen3_vl_moe_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "patch_embed.proj",
            "hidden_size, in_channels, temporal_patch_size, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_positions", "pos_embed", "num_position_embeddings, hidden_size"),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("linear_fc1", LAYER + ".mlp.linear_fc1", "intermediate_size, hidden_size", bias="True"),
        Row("linear_fc2", LAYER + ".mlp.linear_fc2", "hidden_size, intermediate_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row(
            "norm",
            DEEPSTACK_MERGER_LIST + ".norm",
            "hidden_size * spatial_merge_size * spatial_merge_size",
            bias="True",
        ),
        Row(
            "deepstack_merger_list_linear_fc1",
            DEEPSTACK_MERGER_LIST + ".linear_fc1",
            "hidden_size * spatial_merge_size * spatial_merge_size, hidden_size * spatial_merge_size * spatial_merge_size",
            bias="True",
        ),
        Row(
            "deepstack_merger_list_linear_fc2",
            DEEPSTACK_MERGER_LIST + ".linear_fc2",
            "out_hidden_size, hidden_size * spatial_merge_size * spatial_merge_size",
            bias="True",
        ),
        Row("norm", "merger.norm", "hidden_size", bias="True"),
        Row(
            "linear_fc1",
            "merger.linear_fc1",
            "hidden_size * spatial_merge_size * spatial_merge_size, hidden_size * spatial_merge_size * spatial_merge_size",
            bias="True",
        ),
        Row(
            "linear_fc2",
            "merger.linear_fc2",
            "out_hidden_size, hidden_size * spatial_merge_size * spatial_merge_size",
            bias="True",
        ),
    ),
    defaults={
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
