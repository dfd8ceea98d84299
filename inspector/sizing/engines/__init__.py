"""Engines, one file each. To add one: write its `ENGINE`, and name its module here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from inspector.errors import UsageError
from inspector.sizing.engines.engine import Engine

#: Name → module, imported on demand.
ENGINES: Mapping[str, str] = {"transformers": "transformers", "llama.cpp": "llama_cpp", "vllm": "vllm"}


def engine(name: str) -> Engine:
    """The engine with this name. Raises UsageError."""
    if name not in ENGINES:
        raise UsageError(f"no engine is called {name!r:.40}; known: {', '.join(ENGINES)}")
    found: Engine = import_module(f"inspector.sizing.engines.{ENGINES[name]}").ENGINE
    return found
