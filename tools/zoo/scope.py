"""A record's fields as a formula's scope, and what formulas give over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.architectures import formula
from inspector.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Fields:
    """A record's configuration as a formula's scope, absent and empty fields filled in."""

    def __init__(self, values: Mapping[str, Any], index: Mapping[str, int] | None = None) -> None:
        self.values, self.index = values, index or {}

    def __getitem__(self, name: str) -> Any:
        if name in self.index:
            return self.index[name]
        if name not in self.values:
            raise ConfigError(name)
        return self.values[name]


def nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted paths → objects in objects, as a formula reads them."""
    tree: dict[str, Any] = {}
    for path, value in fields.items():
        *outer, last = path.split(".")
        here = tree
        for word in outer:
            here = here.setdefault(word, {}) if isinstance(here.get(word, {}), dict) else {}
        here[last] = value
    return tree


def expanded(bounds: Sequence[tuple[str, str]], tree: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    def inner(rest: Sequence[tuple[str, str]], index: dict[str, int]) -> Iterator[dict[str, int]]:
        if not rest:
            yield dict(index)
            return
        variable, bound = rest[0]
        count = evaluated(bound, tree, index)
        for number in range(count if isinstance(count, int) and 0 <= count < 4000 else 0):
            yield from inner(rest[1:], {**index, variable: number})

    yield from inner(bounds, {})


def evaluated(text: str, tree: Mapping[str, Any], index: Mapping[str, int]) -> Any:
    try:
        return formula.evaluate(text, Fields(tree, index))
    except ConfigError:
        return None
