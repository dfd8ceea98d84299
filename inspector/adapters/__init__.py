"""LoRA and its relatives: which tensors an adapter adds to a model, and what its method and ranks predict.

`adapter_of` looks for marks in the names; the rest is loaded only if there are some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspector.model import Adapter, Tensor

#: Substrings found in adapters' names: without one of them, nothing more is loaded and the per-name scan is skipped.
MARKS = ("lora", "hada_w", "lokr_w", "ia3_l", "vera_lambda", "oft_", "prompt_embeddings", "base_model.")


#: Keys of metadata with which adapters describe themselves: diffusers' and kohya's.
DESCRIPTIONS = DIFFUSERS, KOHYA = "lora_adapter_metadata", "ss_network_module"


def adapter_of(tensors: Sequence[Tensor], config: Mapping[str, Any] | None, patterns: Iterable[str]) -> Adapter | None:
    """The adapter in these tensors; None if there is none, or only a few tensors among a model's own.

    Args:
        config: the fields of an adapter_config.json.
        patterns: the tensors' names, with numbers replaced by `{}`.
    """
    if config is None and not any(mark in pattern for pattern in patterns for mark in MARKS):
        return None
    from inspector.adapters import tensors as adapters  # models need no adapter methods

    return adapters.adapter_of(tensors, config)
