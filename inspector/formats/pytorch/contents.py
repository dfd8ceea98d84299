"""Which part of a saved value is the model: training frameworks keep it under a key, next to other things."""

from __future__ import annotations

from typing import Any

from inspector.formats.pytorch.found import Found
from inspector.formats.pytorch.tensors import sizes_of
from inspector.formats.pytorch.values import Dictionary, Made, is_count
from inspector.formats.training import WEIGHTS

#: Nested dictionaries that may lead to the weights: {"checkpoint": {"model": …}} is two.
_DEEPEST = 4
#: The most facts that a file states about itself, and the most characters of one.
MAX_FACTS, MAX_FACT = 100, 500


def named(found: Found) -> Found:
    """The weights under their own names; everything else keeps its key as a prefix."""
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
    """The key of the weights in a dictionary, which may hold other things as well."""
    items = _items(value)
    for key in WEIGHTS:
        if key in items and _is_container(items[key]) and any(name.startswith(f"{start}{key}.") for name in names):
            return key
    return None


def _is_container(value: Any) -> bool:
    return isinstance(value, Dictionary) or (isinstance(value, Made) and bool(value.items or value.state))


def _items(value: Any) -> dict[str, Any]:
    """A dictionary's values by their string keys; empty for anything else."""
    if isinstance(value, Made) and value.path == "collections.OrderedDict":
        pairs = [each for each in value.items if isinstance(each, tuple) and len(each) == 2]
    else:
        pairs = value.pairs if isinstance(value, Dictionary) else []
    return {key: each for key, each in pairs if isinstance(key, str)}


def facts(value: Any) -> dict[str, object]:
    """Numbers and short strings next to the tensors: the step, the epoch, the version that wrote the file."""
    found = {
        key: each
        for key, each in _items(value).items()
        if isinstance(each, (int, float)) or (isinstance(each, str) and len(each) <= MAX_FACT)
    }
    return {**dict(list(found.items())[:MAX_FACTS]), **_partitions(value)}


def _partitions(value: Any) -> dict[str, object]:
    """How DeepSpeed partitioned the weights, in its own record: their shapes, and the number of ranks."""
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
