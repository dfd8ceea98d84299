"""Checkpoint inspector: what is in a weight file, what should be, and where every byte of the gap went.

import inspector

checkpoint = inspector.open("path/to/model")     # headers only
result = inspector.reconcile(checkpoint)         # joined with what the configuration predicts
forecast = inspector.predict("llama-7b")         # the prediction alone
inspector.memory("path/to/model").total          # bytes to run it: weights, cache, activations
inspector.diff("base", "tuned").counts           # two checkpoints, their tensors paired by purpose
inspector.values("path/to/model", "norm").rows   # statistics of the tensors' numbers: reads them
"""

from __future__ import annotations

from inspector.tabular import Tabular
from inspector.version import __version__ as __version__

TYPE_CHECKING = False  # `typing` would make the start slower; type checkers know this name
if TYPE_CHECKING:  # the same names as `_NAMES`, for type checkers
    from types import ModuleType
    from typing import Any

    # isort: off
    from inspector.api import *
    from inspector.architectures import add_tables as add_tables
    from inspector.architectures.data.roles import ROLES as ROLES
    from inspector.auditing.run import audit as audit
    from inspector.errors import *
    from inspector.model import Checkpoint as Checkpoint, Config as Config, Expected as Expected, Finding as Finding
    from inspector.model import Header as Header, Key as Key, Prediction as Prediction, Tensor as Tensor
    from inspector.model import Reconciliation as Reconciliation, Step as Step, Variant as Variant
    from inspector.opening.metadata import metadata as metadata
    from inspector.scanning.run import scan as scan
    # isort: on

#: Module → the public names that it has, imported on first use.
_NAMES = {
    "inspector.api": "diff memory models open outline predict reconcile values variants",
    "inspector.architectures": "add_tables",
    "inspector.architectures.data.roles": "ROLES",
    "inspector.auditing.run": "audit",
    "inspector.errors": (
        "ConfigError FormatError InspectorError NetworkError SourceError TableError TargetError UsageError"
    ),
    "inspector.model": "Checkpoint Config Expected Finding Header Key Prediction Reconciliation Step Tensor Variant",
    "inspector.opening.metadata": "metadata",
    "inspector.scanning.run": "scan",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def _renderer() -> ModuleType:
    from inspector.report import notebook  # needed only when a table or text is requested

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
