"""The packing declaration in a configuration, wherever it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.model import Config

#: Fields that hold the declaration, the usual one first; `quantization` is MLX's.
FIELDS = ("quantization_config", "quantization", "compression_config", "quant_config")
#: Objects that may contain a composite model's text model, and so its declaration.
NESTED = ("text_config", "llm_config", "language_config", "language_model", "thinker_config")


def declaration(config: Config | None) -> Mapping[str, Any]:
    """The object that declares packing; empty if there is none."""
    if config is None:
        return {}
    for values in (config.values, *(config.values.get(name) for name in NESTED)):
        if not isinstance(values, Mapping):
            continue
        for found in map(values.get, FIELDS):
            if isinstance(found, Mapping) and found:
                return _unwrapped(found)
    return {}


def _unwrapped(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """ModelOpt's own file has the declaration one level deeper, under `quantization`."""
    nested = found.get("quantization")
    if isinstance(nested, Mapping) and nested:
        return {**found, **nested}
    return found
