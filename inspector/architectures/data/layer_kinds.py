"""What configurations call the kinds of their layers."""

from __future__ import annotations

from collections.abc import Mapping

#: What lists of layers' kinds called them before, in the fields of `LAYER_KINDS` → what they are called today.
OLD_KINDS: Mapping[str, str] = {
    "attention": "full_attention",
    "deepseek_sparse_attention": "indexed_attention",
    "mamba": "linear_attention",
    "qwen_sparse_attention": "indexed_attention",
}
LAYER_KINDS = ("layer_types", "layers_block_type")
