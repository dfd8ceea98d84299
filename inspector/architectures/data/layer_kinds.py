"""The names that configurations use for kinds of layers."""

from __future__ import annotations

from collections.abc import Mapping

#: Former names of layer kinds, in the fields of `LAYER_KINDS` → their current names.
OLD_KINDS: Mapping[str, str] = {
    "attention": "full_attention",
    "deepseek_sparse_attention": "indexed_attention",
    "mamba": "linear_attention",
    "qwen_sparse_attention": "indexed_attention",
}
LAYER_KINDS = ("layer_types", "layers_block_type")
