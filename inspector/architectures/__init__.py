"""What is known of model families: one table each, loaded when a configuration asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from inspector.architectures import table_file
from inspector.architectures.store import store
from inspector.architectures.table import Family

#: The field in which a configuration from key-values names its GGUF architecture.
GGUF_ARCHITECTURE = "general.architecture"


class GgufArchitecture(str):
    """A GGUF architecture that key-values named: JSON gives plain texts, so no config.json can claim GGUF's names."""

    __slots__ = ()


@cache
def load(name: str) -> Family:
    """The family that the table of this name says."""
    return table_file.read("families", name, store().find)


@cache
def load_gguf(architecture: str, model_type: str) -> Family | None:
    """The family of a `general.architecture`, named as Transformers' `model_type` is; None where there is no table."""
    if architecture not in _gguf():
        return None
    family = table_file.read("gguf", architecture, store().find)
    return family._replace(name=model_types().get(model_type, architecture))


@cache
def _gguf() -> frozenset[str]:
    """The architectures that have a table; what they are all like is none."""
    return frozenset(name for name in store().names("gguf") if not name.startswith("_"))


def model_types() -> Mapping[str, str]:
    """`model_type` → the table that has it, in alphabetical order."""
    return store().types


def family_of(config: Mapping[str, Any]) -> Family | None:
    """The family of a configuration's `model_type`, or of its GGUF architecture; None where no table knows it."""
    model_type = str(config.get("model_type"))
    architecture = config.get(GGUF_ARCHITECTURE)
    if isinstance(architecture, GgufArchitecture):
        return load_gguf(architecture, model_type)
    table = model_types().get(model_type)
    return load(table) if table else None


class Known(NamedTuple):
    """A model type that has a table, and how far it was checked; None where it was not."""

    model_type: str
    table: str  # its file in `data/tables/families`
    gguf: tuple[str, ...]  # the `general.architecture` values that mean it
    keyed: int | None  # percent of tensors that have a role
    default: int | None  # percent of models predicted exactly, at the default configuration
    changed: int | None  # the same at changed configurations
    drawn: int | None  # the same at configurations of other values and flags, which no table was made from


def listed() -> list[Known]:
    """All model types with a table; loads none of them."""
    coverage = store().find("made", "coverage")
    names: dict[str | None, list[str]] = {}
    for each in listed_gguf():
        names.setdefault(each.model_type, []).append(each.architecture)
    none = (None, None, None, None)
    return [
        Known(model_type, table, tuple(names.get(model_type, ())), *coverage.get(model_type, none))
        for model_type, table in model_types().items()
    ]


class KnownGguf(NamedTuple):
    """An architecture of the `gguf` package: all its tensors are keyed."""

    architecture: str  # the value of `general.architecture`
    model_type: str | None  # Transformers' word for it; None where that has no table
    predicted: bool  # whether its key-values predict its tensors


def listed_gguf() -> list[KnownGguf]:
    """All GGUF architectures."""
    from inspector.architectures.data.gguf_keys import MODEL_TYPES
    from inspector.architectures.data.gguf_names import NAMED

    return [
        KnownGguf(name, model_type if model_type in model_types() else None, name in _gguf())
        for name in sorted(_gguf() | NAMED)
        for model_type in (MODEL_TYPES.get(name, name),)
    ]
