"""What of a saved value is the model: training frameworks keep it under a key, beside other things."""

from __future__ import annotations

from typing import Any

from inspector.formats.pytorch.found import Found
from inspector.formats.pytorch.tensors import sizes_of
from inspector.formats.pytorch.values import Dictionary, Made, is_count
from inspector.formats.training import WEIGHTS

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
    return {**dict(list(found.items())[:MAX_FACTS]), **_partitions(value)}


def _partitions(value: Any) -> dict[str, object]:
    """What DeepSpeed says of how weights are shared out: their shapes, and among how many ranks."""
    found: dict[str, object] = {}
    items = _items(value)
    for key in ("param_shapes", "frozen_param_shapes"):
        groups = items.get(key)
        listed = groups if isinstance(groups, list) else [groups]
        shapes = {name: sizes_of(each) for group in listed for name, each in _items(group).items()}
        if shapes:
            found[key] = {name: shape for name, shape in shapes.items() if shape is not None}
    counts = _items(items.get("optimizer_state_dict")).get("partition_count")
    count = max((each for each in counts if is_count(each)), default=0) if isinstance(counts, list) else counts
    return {**found, "partition_count": count} if is_count(count) and count else found
