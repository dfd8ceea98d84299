"""What of a saved value is the model: training frameworks keep it under a key, beside other things."""

from __future__ import annotations

from typing import Any

from inspector.formats.pytorch.found import Found
from inspector.formats.pytorch.values import Dictionary, Made

#: Keys under which training frameworks keep the weights in what they save.
WEIGHTS = (
    "state_dict",
    "model_state_dict",
    "model_state",
    "model_weights",
    "model",
    "module",
    "network",
    "net",
    "net_state_dict",
    "generator",
    "params_ema",
    "params",
    "weights",
)
#: Dictionaries within each other that may lead to the weights: {"checkpoint": {"model": …}} is two.
_DEEPEST = 4
#: Facts that a file says of itself, and characters of one.
MAX_FACTS, MAX_FACT = 100, 500


def named(found: Found) -> Found:
    """The weights under their own names; all else keeps the key that it lies under."""
    start, value = "", found.value
    names = {view.name for view in found.views}
    for _ in range(_DEEPEST):
        key = _main(value, start, names)
        if key is None:
            break
        start, value = f"{start}{key}.", _items(value)[key]
    shorter = [name.removeprefix(start) for name in names]
    if not start or len(set(shorter)) < len(shorter):
        return found
    return found._replace(views=tuple(view._replace(name=view.name.removeprefix(start)) for view in found.views))


def _main(value: Any, start: str, names: set[str]) -> str | None:
    """The key under which the weights are, of a dictionary that holds other things too or nothing else."""
    items = _items(value)
    for key in WEIGHTS:
        if key in items and _is_container(items[key]) and any(name.startswith(f"{start}{key}.") for name in names):
            return key
    return None


def _is_container(value: Any) -> bool:
    return isinstance(value, Dictionary) or (isinstance(value, Made) and bool(value.items or value.state))


def _items(value: Any) -> dict[str, Any]:
    """A dictionary's values by their keys that are texts; empty for all else."""
    if isinstance(value, Made) and value.path == "collections.OrderedDict":
        pairs = [each for each in value.items if isinstance(each, tuple) and len(each) == 2]
    else:
        pairs = value.pairs if isinstance(value, Dictionary) else []
    return {key: each for key, each in pairs if isinstance(key, str)}


def facts(value: Any) -> dict[str, object]:
    """Numbers and short texts beside the tensors: the step, the epoch, the version that wrote it."""
    found = {
        key: each
        for key, each in _items(value).items()
        if isinstance(each, (int, float)) or (isinstance(each, str) and len(each) <= MAX_FACT)
    }
    return dict(list(found.items())[:MAX_FACTS])
