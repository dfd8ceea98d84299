"""Configurations with field names other than Transformers': which keys they use, and Transformers' names for them.

They are tables in `data/tables/dialects`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from inspector.architectures.store import store


class Dialect(NamedTuple):
    """One way to write a configuration."""

    name: str  # for people
    kind: Literal["config.json", "params.json"]  # what results call it
    marks: frozenset[str]  # keys that identify it; all must be present
    keys: Mapping[str, str]  # its key → Transformers' field
    model_types: tuple[
        tuple[str, str], ...
    ]  # (condition on its keys, model_type): the first that is true, or else the last
    constants: Mapping[str, Any] = {}  # fields that it implies
    derived: Mapping[str, str] = {}  # fields it computes, as formulas of its keys
    unknown: Mapping[str, Any] = {}  # values that mean "see elsewhere"


@cache
def dialects() -> tuple[Dialect, ...]:
    """All dialects, in the order in which they are tried."""
    return tuple(_read(name, store().find("dialects", name)) for name in store().names("dialects"))


def _read(name: str, document: Mapping[str, Any]) -> Dialect:
    fields = {field: value for field, value in document.items() if field in Dialect._fields}
    types = tuple((condition, model_type) for condition, model_type in fields["model_types"])
    return Dialect(**{**fields, "name": name, "marks": frozenset(fields["marks"]), "model_types": types})
