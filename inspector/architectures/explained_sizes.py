"""Sizes explained by the configuration, if no table predicts them: `11008 = intermediate_size`.

A size is explained if one of its usual fields, or an expression over them, has its value; else if exactly one field of
any name has it. If several unknown fields fit, the size stays unexplained.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from inspector.architectures import formula
from inspector.architectures.data.meanings import DERIVED, EXPRESSIONS, SCOPES, SHAPELESS, SMALL, WELL_KNOWN
from inspector.architectures.naming import Slot
from inspector.errors import ConfigError
from inspector.model import Dimension

#: Configurations are untrusted: this many numbers of each of its parts are read.
MOST_FIELDS = 2000

#: Roles whose shapes determine the fields of a model without a configuration: role → fields of its dimensions.
TELLING: Mapping[str, tuple[str, ...]] = {
    "embed_tokens": ("vocab_size", "hidden_size"),
    "gate_proj": ("intermediate_size", "hidden_size"),
    "up_proj": ("intermediate_size", "hidden_size"),
    "q_norm": ("head_dim",),
    "router": ("num_experts", "hidden_size"),
}

_FIELD = re.compile(r"\b[a-z]\w*\b")


class _Fields:
    """The numbers in one part of a configuration, under the names of `WELL_KNOWN`."""

    def __init__(self, own: Mapping[str, str], values: Mapping[str, int], others: Mapping[int, str | None]) -> None:
        self.own = own  # well-known name → the configuration's, with its path
        self.values = values  # well-known name → number
        self.others = others  # number → the only other field that has it; None if several have

    def __getitem__(self, name: str) -> int:
        """The value of a field, for formulas. Raises ConfigError."""
        value = self.values.get(name)
        if value is None and name in DERIVED:
            value = formula.evaluate(DERIVED[name], self)
        if value is None:
            raise ConfigError(f"the configuration has no `{name}`")
        return int(value)

    def show(self, expression: str) -> str:
        """An expression with the configuration's own field names."""
        return _FIELD.sub(lambda word: self.own.get(word[0], word[0]), formula.show(expression))


class Meanings:
    """The meanings of a model's sizes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._parts = list(_parts(values))
        self._tables: dict[tuple[str, str], list[Mapping[int, str]]] = {}

    def of(self, size: int, group: str, tower: str) -> str | None:
        """A size's meaning in a tensor of this group and tower; None if unexplained."""
        if size < 2:
            return None
        known = self._tables.get((group, tower))
        if known is None:
            known = self._tables[group, tower] = [_table(fields, group) for fields in self._of_tower(tower)]
        return next((table[size] for table in known if size in table), None)

    def _of_tower(self, tower: str) -> Iterator[_Fields]:
        """The parts of the configuration that shape a tower, its own first."""
        own = [fields for towers, fields in self._parts if tower in towers]
        whole = [fields for towers, fields in self._parts if not towers]
        yield from own if tower in ("vision", "audio") and own else [*whole, *own]


def _parts(values: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], _Fields]]:
    """The configuration and each nested one, with the towers that they shape; none for the language model's.

    Only a tower's fields are named with their path.
    """
    yield (), _fields(values, "")
    for name, nested in islice(values.items(), MOST_FIELDS):
        if isinstance(nested, Mapping) and nested:
            towers = next((towers for word, towers in SCOPES.items() if word in name), ())
            yield towers, _fields(nested, f"{name}." if towers else "")


def _fields(values: Mapping[str, Any], path: str) -> _Fields:
    numbers = {
        name: value
        for name, value in islice(values.items(), MOST_FIELDS)
        if isinstance(name, str) and type(value) is int and 1 < value < 2**63
    }
    own = {
        name: found
        for name, (aliases, _) in WELL_KNOWN.items()
        for found in [next((alias for alias in (name, *aliases.split()) if alias in numbers), None)]
        if found is not None
    }
    others: dict[int, str | None] = {}
    for name, value in numbers.items():
        if name not in own.values() and not name.endswith(SHAPELESS):
            others[value] = None if value in others else path + name
    values_of = {name: numbers[found] for name, found in own.items()}
    return _Fields({name: path + found for name, found in own.items()}, values_of, others)


def _table(fields: _Fields, group: str) -> dict[int, str]:
    """Size → meaning, for tensors of one group: the first to claim a size keeps it."""
    table: dict[int, str] = {}
    known = {name: groups for name, (_, groups) in WELL_KNOWN.items()}
    for expression, groups in (known | dict(EXPRESSIONS)).items():
        if group in groups.split():
            try:
                table.setdefault(int(formula.evaluate(expression, fields)), fields.show(expression))
            except ConfigError:
                continue
    for size, other in fields.others.items():
        if other is not None and size >= SMALL:
            table.setdefault(size, other)
    return table


def explain(
    values: Mapping[str, Any] | None, groups: Iterable[tuple[Slot, Sequence[int]]], shapes: Sequence[tuple[int, ...]]
) -> dict[tuple[str, str, str, str], tuple[str, tuple[Dimension, ...]]]:
    """Role, group, tower and branch → its shapes in words, and the meaning of each size in them.

    Args:
        values: the configuration's fields; None if there is no configuration, and the tensors must reveal them.
        groups: tensors of one name pattern, by position.
        shapes: logical, one shape per tensor.
    """
    by_role: dict[tuple[str, str, str, str], dict[tuple[int, ...], None]] = {}
    for slot, members in groups:
        if slot.group not in ("buffer", "quantization", "adapter"):
            found = by_role.setdefault((slot.role or "other", slot.group, slot.tower, slot.branch), {})
            found.update(dict.fromkeys(shapes[at] for at in members))
    meanings = Meanings(values if values is not None else _revealed_fields(by_role))
    return {key: _explained(meanings, key, found) for key, found in by_role.items()}


def _explained(
    meanings: Meanings, key: tuple[str, str, str, str], shapes: Iterable[tuple[int, ...]]
) -> tuple[str, tuple[Dimension, ...]]:
    _, group, tower, _ = key
    sizes: dict[int, str | None] = {}
    texts: dict[str, None] = {}
    for shape in shapes:
        for size in shape:
            if size not in sizes:
                sizes[size] = meanings.of(size, group, tower)
        if any(sizes[size] for size in shape):
            texts[" × ".join(sizes[size] or str(size) for size in shape)] = None
    return "; ".join(texts), tuple(Dimension(size, meaning) for size, meaning in sizes.items())


def _revealed_fields(by_role: Mapping[tuple[str, str, str, str], Iterable[tuple[int, ...]]]) -> dict[str, int]:
    """The fields that a few tensors of the language model reveal."""
    fields: dict[str, int] = {}
    for role, names in TELLING.items():
        shapes = {
            shape
            for (own, _, tower, branch), found in by_role.items()
            for shape in found
            if (own, tower, branch, len(shape)) == (role, "text", "", len(names))
        }
        if len(shapes) == 1:
            fields = {**dict(zip(names, shapes.pop(), strict=True)), **fields}
    return fields
