"""Experts that a configuration counts and its table never asks about: such a model is predicted without them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.architectures import included
from inspector.architectures.data.meanings import WELL_KNOWN
from inspector.architectures.table import Family, Include
from inspector.model import Prediction

#: The fields that count a layer's experts.
EXPERTS = ("num_experts", *WELL_KNOWN["num_experts"][0].split())
#: How deep parts within parts are searched.
_DEEPEST = 4


def unread_experts(prediction: Prediction) -> str | None:
    """The experts that a prediction omits, because no table read for it uses a field that counts them; None if none."""
    values = prediction.config.values
    if any(row.experts or row.stacked for row in prediction.expected):
        return None
    counted = dict(_counted(values, _DEEPEST))
    family: Family | None = prediction.config.family
    if not counted or family is None:
        return None
    read = " ".join(_texts(family, values, _DEEPEST))
    if any(re.search(rf"\b{field}\b", read) for field in counted):
        return None
    fields = ", ".join(f"{field} = {number}" for field, number in counted.items())
    return f"{fields}, which the table of {family.name} does not use: the experts are missing from the prediction"


def _counted(values: Mapping[str, Any], deepest: int) -> Iterator[tuple[str, int]]:
    """The fields that count more than one expert, in a configuration and its parts; of a list, its largest number."""
    for field in EXPERTS:
        given = values.get(field)
        numbers = [each for each in (given if isinstance(given, list) else [given]) if type(each) is int]
        if max(numbers, default=0) > 1:
            yield field, max(numbers)
    for part in values.values() if deepest else ():
        if isinstance(part, Mapping):
            yield from _counted(part, deepest - 1)


def _texts(family: Family, values: Mapping[str, Any], deepest: int) -> Iterator[str]:
    """What a table asks of a configuration, and what the tables of its parts ask."""
    yield from (*family.derived.values(), *family.fields, *family.fields.values())
    for entry in family.rows:
        yield from (text for text in entry if isinstance(text, str))
        if isinstance(entry, Include) and deepest:
            part, inner = included(entry, values)
            yield from _texts(part, inner, deepest - 1) if part else ()
