"""What is known of model families: one table each, loaded when a configuration asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from inspector.architectures.index import GGUF, MODULES
from inspector.architectures.table import Family


@cache
def load(module: str) -> Family:
    """The family in `architectures/families/<module>.py`."""
    family = import_module(f"inspector.architectures.families.{module}").FAMILY
    assert isinstance(family, Family)
    return family


def family_of(config: Mapping[str, Any]) -> Family | None:
    """The family that a configuration's `model_type` belongs to; None where no table knows it."""
    module = MODULES.get(str(config.get("model_type")))
    return load(module) if module else None


def family_of_gguf(architecture: str) -> Family | None:
    """The family of a GGUF's `general.architecture`."""
    module = GGUF.get(architecture)
    return load(module) if module else None
