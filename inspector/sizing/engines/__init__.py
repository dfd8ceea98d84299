"""Engines, one file each. To add one: write its `ENGINE`, and name its module here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from inspector.errors import UsageError
from inspector.sizing.engines.engine import Engine

#: Name → module, imported on demand.
ENGINES: Mapping[str, str] = {"transformers": "transformers", "llama.cpp": "llama_cpp", "vllm": "vllm"}


def engine(name: str) -> Engine:
    """The engine with this name, or a release of it: "llama.cpp@9294". Raises UsageError."""
    own, at, release = name.partition("@")
    if own not in ENGINES:
        raise UsageError(f"no engine is called {own!r:.40}; known: {', '.join(ENGINES)}")
    module = import_module(f"inspector.sizing.engines.{ENGINES[own]}")
    found: Engine = module.ENGINE
    if not at:
        return found
    if not found.graphs:
        raise UsageError(f"{name!r:.40}: releases are known of llama.cpp alone, such as llama.cpp@9294")
    if not (number := release.removeprefix("b")).isdecimal() or len(number) > len(str(module.BUILD)):
        raise UsageError(f"{name!r:.40}: a build's number is expected, such as llama.cpp@9294")
    released: Engine = module.of_build(int(number))
    return released
