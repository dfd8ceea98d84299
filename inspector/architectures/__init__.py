"""What is known of model families: one table each, loaded when a configuration asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from inspector.architectures.data.index import MODULES
from inspector.architectures.table import Family

#: Where the tables are that tools/zoo derived.
TABLES = Path(__file__).parent / "data" / "tables"
#: The field in which a configuration from key-values names its GGUF architecture.
GGUF_ARCHITECTURE = "general.architecture"


@cache
def load(module: str) -> Family:
    """The family that `families/<module>.py` says, or `tables/<module>.json`."""
    try:
        text = (TABLES / f"{module}.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        family = import_module(f"inspector.architectures.data.families.{module}").FAMILY
        assert isinstance(family, Family)
        return family
    from inspector.architectures import table_file

    return table_file.read(text)


def family_of(config: Mapping[str, Any]) -> Family | None:
    """The family of a configuration's `model_type`, or of its GGUF architecture; None where no table knows it."""
    model_type = str(config.get("model_type"))
    if GGUF_ARCHITECTURE in config:
        from inspector.architectures import gguf_rows  # tables that only GGUF needs

        return gguf_rows.family(str(config[GGUF_ARCHITECTURE]), model_type)
    module = MODULES.get(model_type)
    return load(module) if module else None


class Known(NamedTuple):
    """A model type that has a table, and how far it was checked; None where it was not."""

    model_type: str
    module: str  # in `families/` or `tables/`
    gguf: tuple[str, ...]  # the `general.architecture` values that mean it
    keyed: int | None  # percent of tensors that have a role
    default: int | None  # percent of models predicted exactly, at the default configuration
    changed: int | None  # the same at changed configurations
    drawn: int | None  # the same at configurations of other values and flags, which no table was made from


def listed() -> list[Known]:
    """All model types with a table; loads none of them."""
    from inspector.architectures.data.coverage import COVERAGE

    names: dict[str | None, list[str]] = {}
    for each in listed_gguf():
        names.setdefault(each.model_type, []).append(each.architecture)
    none = (None, None, None, None)
    return [
        Known(model_type, module, tuple(names.get(model_type, ())), *COVERAGE.get(model_type, none))
        for model_type, module in sorted(MODULES.items())
    ]


class KnownGguf(NamedTuple):
    """An architecture of the `gguf` package: all its tensors are keyed."""

    architecture: str  # the value of `general.architecture`
    model_type: str | None  # Transformers' word for it; None where that has no table
    predicted: bool  # whether its key-values predict its tensors


def listed_gguf() -> list[KnownGguf]:
    """All GGUF architectures."""
    from inspector.architectures.data.gguf_keys import MODEL_TYPES
    from inspector.architectures.data.gguf_layouts import LAYOUTS, NAMED

    return [
        KnownGguf(name, model_type if model_type in MODULES else None, name in LAYOUTS)
        for name in sorted({*LAYOUTS, *NAMED})
        for model_type in (MODEL_TYPES.get(name, name),)
    ]
