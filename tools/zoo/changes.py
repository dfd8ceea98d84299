"""A configuration with one field changed, where that changes the tensors."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from configurations import Overrides, Path_, construct, is_int, walk
from models import state_signature
from perturb import NOT_STRUCTURAL, Perturber

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transformers import PreTrainedModel

LAYER_KINDS: tuple[str, ...] = (
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "linear_attention",
    "conv",
    "moe",
    "hybrid",
    "sparse",
    "dense",
)


def single_field_variants(
    perturber: Perturber, base: Overrides
) -> Iterator[tuple[str, str, PreTrainedModel, Overrides]]:
    """The p1 configuration with one field changed, where that changes the tensors."""
    model = perturber.builds(base)
    if model is None:
        return
    reference = state_signature(model)
    config = construct(perturber.template, base)
    fields = list(walk(config))
    for path, value, annotation, owner in list(fields):  # noqa: B007
        if isinstance(value, dict) and not re.search(r"rope|label|act", path[-1]):
            fields += [((*path, k), v, "", owner) for k, v in value.items() if isinstance(k, str)]
    rank = {bool: 0, int: 1, type(None): 2, list: 2, str: 3, float: 4}
    fields.sort(key=lambda field: rank.get(type(field[1]), 5))
    for path, value, annotation, owner in fields:
        if path[-1] in ("is_encoder_decoder", "use_cache"):
            continue
        first = True
        for prefix, values, every in alternatives(path, value, annotation, owner, perturber.cls):
            for other in values:
                overrides = base | {path: other}
                model = perturber.builds(overrides)
                if model is None:
                    continue
                label = f"{prefix}_{'.'.join(path)}"
                if not first or every:
                    label += f".{shown(other)}"
                first = False
                if state_signature(model) != reference:
                    note = f"{'.'.join(path)}: {shown(value)} -> {shown(other)}"
                    yield label, note, model, overrides
                if not every:
                    break


def alternatives(
    path: Path_, value: Any, annotation: str, owner: type, cls: type[PreTrainedModel]
) -> Iterator[tuple[str, list[Any], bool]]:
    """Prefix of the variant, values to try, and whether all are wanted or the first that builds."""
    name = path[-1]
    optional = "None" in annotation
    if isinstance(value, bool):
        yield "b", [not value], False
    elif is_int(value):
        if NOT_STRUCTURAL.search(name):
            return
        if value > 12:
            yield "i", [2 * value, 3 * value, value + 8, value + 1, value // 2], False
        else:
            yield "i", [value + 1, 2 * value, value + 2], False
            yield "i", [v for v in (value - 1, 0) if 0 <= v != value], True
        if optional:
            yield "i", [None], True
        if re.search(r"\bbool\b", annotation):
            yield "b", [True, False], True
    elif isinstance(value, float):
        if not NOT_STRUCTURAL.search(name):
            yield "f", [2 * value, value / 2], False
    elif isinstance(value, str):
        yield "s", [v for v in string_values(cls, owner, name, annotation) if v != value], True
    elif isinstance(value, (list, tuple)):
        values = list(value)
        if values and all(isinstance(v, str) for v in values):
            kinds = list(dict.fromkeys([*values, *string_values(cls, owner, name, annotation)]))
            if name == "layer_types":
                kinds += [t for t in LAYER_KINDS if t not in kinds]
            yield "l", [[kind] * len(values) for kind in kinds], True
        elif values and all(is_int(v) for v in values):
            yield "l", [[2 * v for v in values], [v + 1 for v in values]], False
        elif not values:
            yield "l", [[1], [0, 2]], False
        if optional:
            yield "l", [None], True
    elif value is None and not NOT_STRUCTURAL.search(name):
        if re.search(r"\bbool\b", annotation):
            yield "b", [True, False], True
        if re.search(r"\bint\b", annotation) and "list[int]" not in annotation:
            yield "i", [104, 2, 1], False
        if re.search(r"\bfloat\b", annotation):
            yield "f", [0.5, 2.0], False
        if re.search(r"\bstr\b|Literal", annotation):
            yield "s", string_values(cls, owner, name, annotation), True
        if re.search(r"list\[int\]|list\b", annotation):
            yield "l", [[1], [0, 2]], False


def string_values(cls: type[PreTrainedModel], owner: type, field: str, annotation: str) -> list[str]:
    """The strings a field may hold, as its annotation and the modeling code mention them."""
    values = re.findall(r"'([^']*)'", annotation) if "Literal" in annotation else []
    for module in {cls.__module__, owner.__module__}:
        with contextlib.suppress(Exception):
            source = inspect.getsource(sys.modules[module])
            pattern = rf"\b{re.escape(field)}\s*(?:==|!=|in|not in)\s*([\[\(\{{]?[^:\n]*)"
            for tail in re.findall(pattern, source):
                values += re.findall(r"[\"']([\w\-]+)[\"']", tail)
    return list(dict.fromkeys(values))[:12]


def shown(value: Any) -> str:
    """A value as part of a file name."""
    if isinstance(value, list):
        unique = list(dict.fromkeys(map(str, value)))
        return "-".join(unique[:4])
    return "none" if value is None else f"v{value}" if not isinstance(value, str) else value
