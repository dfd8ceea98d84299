"""Engines, one file each. To add one: write its `ENGINE`, and name its module here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from inspector.errors import UsageError
from inspector.sizing.engines.engine import Engine

#: Name → module, imported on demand.
ENGINES: Mapping[str, str] = {"transformers": "transformers", "llama.cpp": "llama_cpp", "vllm": "vllm"}

#: Programs → the engine that they run.
RUNS: Mapping[str, str] = {
    **dict.fromkeys(("ollama", "lmstudio", "koboldcpp", "llamafile", "jan", "gpt4all"), "llama.cpp"),
    **dict.fromkeys(("hf", "huggingface", "torch", "pytorch"), "transformers"),
}


def _plain(name: str) -> str:
    return "".join(each for each in name.lower() if each.isalnum())


def engine(name: str) -> Engine:
    """The engine with this name, or a release of it: "llama.cpp@9294". Raises UsageError."""
    typed, at, release = name.partition("@")
    own = next((each for each in ENGINES if _plain(each) == _plain(typed)), typed)
    if own not in ENGINES:
        by = f"; {typed} runs {RUNS[_plain(typed)]}" if _plain(typed) in RUNS else ""
        raise UsageError(f"no engine is called {typed!r:.40}{by}; known: {', '.join(ENGINES)}")
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
