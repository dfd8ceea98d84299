"""Small models of Llama's kind saved as files, and headers, checkpoints and rows with few fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sparse

import inspector
from inspector.model import (
    Checkpoint,
    Expected,
    Header,
    Origin,
    Reconciliation,
    Region,
    Tensor,
)

SIZES = {
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 10,
}
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", **SIZES}
#: Embedding and head, four projections, three of the feed-forward, three norms.
PARAMETERS = 2 * 10 * 8 + 4 * 8 * 8 + 3 * 8 * 12 + 3 * 8


def save(folder: Path, config: dict[str, Any] | None, *, dtype: str = "BF16", name: str = "model") -> Path:
    """Save a model of this configuration, filled with zeros."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = inspector.predict(LLAMA if config is None else config).expected
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    entries = [(dtype, list(row.shape), each) for row in rows for each in row.names()]
    sparse.write_safetensors(folder / f"{name}.safetensors", entries)
    return folder


def steps(result: Reconciliation) -> dict[str, int]:
    found = {step.cause: step.bytes for step in result.steps}
    assert result.start + sum(found.values()) + result.unexplained_bytes == result.on_disk
    return found


def together(folder: Path, *parts: str, kinds: dict[str, dict[str, Any]] | None = None) -> Path:
    """Save a pipeline of these models."""
    index = {name: ["transformers", "LlamaForCausalLM"] for name in parts}
    for name in parts:
        save(folder / name, (kinds or {}).get(name, LLAMA))
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "Pipeline", **index}))
    return folder


def header(size: int, *regions: tuple[str, int, int], claims: Sequence[tuple[int, int]] = (), **others: Any) -> Header:
    """A header with regions, and tensors that claim `(offset, bytes)`."""
    tensors = tuple(Tensor(f"t{at}", "U8", (nbytes,), offset, nbytes) for at, (offset, nbytes) in enumerate(claims))
    path, kind = others.get("path", "a.safetensors"), others.get("format", "safetensors")
    return Header(path, kind, size, tensors, tuple(Region(*each) for each in regions), {})


SOUND = header(200, ("length", 0, 8), ("header", 8, 100), ("tensors", 100, 200), claims=[(100, 60), (160, 40)])


def checkpoint(**fields: Any) -> Checkpoint:
    usual = {"target": "x", "name": "folder-7b", "origin": Origin("local", "/x"), "files": (SOUND,), "other": ()}
    return Checkpoint(**{**usual, **fields})


def expected(**columns: Any) -> Expected:
    fields: dict[str, Any] = {
        "role": "up_proj",
        "group": "feed_forward",
        "tower": "text",
        "part": "weight",
        "name": "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight",
        "shape": (3, 4),
        "formula": ("a", "b"),
        "numbers": ("3", "4"),
        "layers": (0,),
        "experts": 4,
    }
    return Expected(**{**fields, **columns})
