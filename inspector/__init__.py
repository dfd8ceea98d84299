"""Checkpoint inspector: what is in a weight file, what should be, and where every byte of the gap went.

import inspector

checkpoint = inspector.open("path/to/model")     # headers only: checkpoint.tensors
result = inspector.reconcile("path/to/model")    # joined with what the configuration predicts
inspector.audit("path/to/model").counts          # whole, consistent, safe? Errors, warnings, notes
forecast = inspector.predict("llama-7b")         # the prediction alone
inspector.memory("path/to/model").total          # bytes to run it: weights, cache, activations
inspector.quants("model.gguf", gpu="8GB").best   # the largest quantization that fits
inspector.diff("base", "tuned").counts           # two checkpoints, their tensors paired by purpose
inspector.values("path/to/model", "norm").rows   # statistics of the tensors' numbers: reads them

Each takes a path or text, or several. Each result is a line as its repr, a table in notebooks and with `to_pandas()`,
and has an `overview()`: what the command prints.
"""

from __future__ import annotations

from inspector.tabular import Tabular
from inspector.version import __version__ as __version__

TYPE_CHECKING = False  # `typing` would make the start slower; type checkers know this name
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


def _homes() -> dict[str, str]:
    """Public name → the module that it is imported from on first use. The stub for type checkers is the only list."""
    from pathlib import Path  # needed only when a name is

    stub = Path(__path__[0], "__init__.pyi").read_text(encoding="utf-8")
    lines = [line.split() for line in stub.splitlines() if line.startswith("from inspector.")]
    return {name: home for _, home, _, name, *_ in lines if not name.startswith("_")}


def _renderer() -> ModuleType:
    from inspector.report import notebook  # needed only when a table or text is requested

    return notebook


Tabular.renderer = _renderer


def __getattr__(name: str) -> Any:
    homes = _homes()
    if name == "__all__":
        return sorted(homes)
    if name not in homes:
        raise AttributeError(f"module 'inspector' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(homes[name]), name)
    return value


def __dir__() -> list[str]:
    return [*_homes(), "__version__"]
