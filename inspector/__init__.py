"""Checkpoint inspector: what is in a weight file, what should be, and where every byte of the gap went.

import inspector

checkpoint = inspector.open("path/to/model")     # headers only
result = inspector.reconcile(checkpoint)         # joined with what the configuration predicts
forecast = inspector.predict("llama-7b")         # the prediction alone
inspector.memory("path/to/model").total          # bytes to run it: weights, cache, activations
inspector.diff("base", "tuned").counts # two checkpoints, their tensors paired by purpose
inspector.values("path/to/model", "norm").rows # statistics of the tensors' numbers: reads them
"""

from __future__ import annotations

from inspector.tabular import Tabular
from inspector.version import __version__ as __version__

TYPE_CHECKING = False  # as type checkers know it: `typing` itself would make the start slower
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from inspector.api import diff, memory, open, predict, reconcile, values, variants
    from inspector.architectures import add_tables
    from inspector.architectures.data.roles import ROLES
    from inspector.auditing.run import audit
    from inspector.errors import (
        ConfigError,
        FormatError,
        InspectorError,
        NetworkError,
        SourceError,
        TableError,
        TargetError,
        UsageError,
    )
    from inspector.model import (
        Checkpoint,
        Config,
        Expected,
        Finding,
        Header,
        Key,
        Prediction,
        Reconciliation,
        Step,
        Tensor,
        Variant,
    )
    from inspector.opening.metadata import metadata
    from inspector.scanning.run import scan

#: Name → the module that has it, imported on first use.
_HOMES = {
    **dict.fromkeys(
        ("diff", "memory", "models", "open", "outline", "predict", "reconcile", "values", "variants"), "inspector.api"
    ),
    "ROLES": "inspector.architectures.data.roles",
    "add_tables": "inspector.architectures",
    "metadata": "inspector.opening.metadata",
    "audit": "inspector.auditing.run",
    "scan": "inspector.scanning.run",
    **dict.fromkeys(
        (
            "ConfigError",
            "FormatError",
            "InspectorError",
            "NetworkError",
            "SourceError",
            "TableError",
            "TargetError",
            "UsageError",
        ),
        "inspector.errors",
    ),
    **dict.fromkeys(
        (
            "Checkpoint",
            "Config",
            "Expected",
            "Finding",
            "Header",
            "Key",
            "Prediction",
            "Reconciliation",
            "Step",
            "Tensor",
            "Variant",
        ),
        "inspector.model",
    ),
}

__all__ = [
    "ROLES",
    "Checkpoint",
    "Config",
    "ConfigError",
    "Expected",
    "Finding",
    "FormatError",
    "Header",
    "InspectorError",
    "Key",
    "NetworkError",
    "Prediction",
    "Reconciliation",
    "SourceError",
    "Step",
    "TableError",
    "TargetError",
    "Tensor",
    "UsageError",
    "Variant",
    "add_tables",
    "audit",
    "diff",
    "memory",
    "metadata",
    "models",
    "open",
    "outline",
    "predict",
    "reconcile",
    "scan",
    "values",
    "variants",
]


def _renderer() -> ModuleType:
    from inspector.report import notebook  # for those who ask for a table or text

    return notebook


Tabular.renderer = _renderer


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'inspector' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
