"""A family's table read backwards: which row a name belongs to.

A row is entered under every name that it may have: in each class of its family, in older releases and Transformers'
split weights, and without the words that wrap a model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any

from inspector.architectures import formula, included, taken_off
from inspector.architectures.data.conventions import SPLIT_WEIGHTS
from inspector.architectures.data.roles import group_of
from inspector.architectures.naming.by_words import Slot, pattern_of, unwrapped
from inspector.architectures.scope import Scope
from inspector.architectures.table import (
    Family,
    Include,
    Row,
    frozen,
    inner_branch,
    inner_head,
    inner_name,
    inner_tower,
    is_left_out,
    numbers_of,
)
from inspector.errors import ConfigError
from inspector.tabular import NamedTuple

#: What older releases of Transformers put between a vision tower's name and its parts' names.
OLD_TOWER = "vision_model."


_DIGIT = re.compile("[0-9]")


class Placed(NamedTuple):
    """A row in its place in a model: its own, or a nested family's."""

    row: Row
    template: str  # the whole name, with placeholders for its numbers
    tower: str
    branch: str


class Variant(NamedTuple):
    """One of several slots of a pattern, and the numbers that select it: `mlp1.0` is a norm, `mlp1.1` is not."""

    numbers: Mapping[int, int]  # which number of the name → its value
    slot: Slot

    def fits(self, numbers: Sequence[int]) -> bool:
        """Whether a name with these numbers matches."""
        return all(at < len(numbers) and numbers[at] == number for at, number in self.numbers.items())


class TableNames:
    """The names in the rows of a family."""

    def __init__(self, family: Family, config: Mapping[str, Any]) -> None:
        self._entries = tuple(_entries(family, config))
        self._whole: dict[str, Slot] = {}
        for pattern, variant in self._entries:
            self._whole.setdefault(pattern, variant.slot)

    @cached_property
    def _bare(self) -> dict[str, Slot]:
        """The slots by their patterns without the words that wrap a model: most files' names need none of them."""
        bare: dict[str, Slot] = {}
        for pattern, variant in self._entries:
            bare.setdefault(unwrapped(pattern), variant.slot)
        return bare

    @cached_property
    def _variants(self) -> dict[str, list[Variant]]:
        if not any(variant.numbers for _, variant in self._entries):
            return {}
        found: dict[str, list[Variant]] = defaultdict(list)
        for pattern, variant in self._entries:
            for name in {pattern, unwrapped(pattern)}:
                found[name].append(variant)
        return {name: _with_numbers(those) for name, those in found.items() if _differ(those)}

    def slot(self, pattern: str, bare: str) -> Slot | None:
        """The slot of a pattern, unchanged or without the words that wrap a model; None if no row has the name."""
        whole = self._whole.get(pattern) or self._bare.get(pattern)
        return whole or self._whole.get(bare) or self._bare.get(bare)

    def variants(self, pattern: str) -> Sequence[Variant]:
        """The slots among which a name's numbers decide; empty if the pattern has one slot."""
        if not self._variants:
            return ()
        return self._variants.get(pattern) or self._variants.get(unwrapped(pattern)) or ()


class _Same(NamedTuple):
    """A family compared by identity, not by content: tables are read once."""

    family: Family

    def __hash__(self) -> int:
        return id(self.family)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.family is other.family


def names_of(family: Family, config: Mapping[str, Any]) -> TableNames:
    """A family's names: computed once if no part of the configuration can change them."""
    if any(isinstance(entry, Include) for entry in family.rows) or _piece_of(family, config):
        return TableNames(family, config)
    return _names_of(_Same(family))


@lru_cache(64)
def _names_of(same: _Same) -> TableNames:
    return TableNames(same.family, {})


def _differ(variants: Sequence[Variant]) -> bool:
    """Whether the tensors of one pattern have several purposes, distinguished by their numbers."""
    return any(each.numbers for each in variants) and len({each.slot[:5] for each in variants}) > 1


def _with_numbers(variants: Sequence[Variant]) -> list[Variant]:
    return [each for each in variants if each.numbers]


# --- the names of rows ------------------------------------------------------------------------


def _entries(family: Family, config: Mapping[str, Any]) -> Iterator[tuple[str, Variant]]:
    """Every pattern that a tensor of the family may have; the first of equals takes precedence."""
    own = _piece_of(family, config)
    others = sorted({"", *family.prefixes.values()} - {family.prefix})
    yield from _of_pieces(family, config, [own] if own else [])
    for placed in _rows_in_place(family, config):
        for slot, template in _names_of_row(placed, family.prefix, others):
            yield from _tensors(slot, template)
    yield from _of_pieces(family, config, [prefix for prefix in family.pieces.values() if prefix != own])


def _piece_of(family: Family, config: Mapping[str, Any]) -> str:
    """What the names of the configuration's class begin with in the whole, where the class is a part of it."""
    classes = config.get("architectures") if family.pieces else None
    name = classes[0] if isinstance(classes, list) and classes else None
    return family.pieces.get(family.classes.get(name, ""), "") if isinstance(name, str) else ""


def _of_pieces(family: Family, config: Mapping[str, Any], prefixes: Iterable[str]) -> Iterator[tuple[str, Variant]]:
    """The patterns of parts that are models by themselves."""
    for prefix in prefixes:
        for placed in _rows_in_place(family, config):
            if placed.template.startswith(prefix):
                yield from _tensors(_slot_of(placed), placed.template.removeprefix(prefix))


def _names_of_row(placed: Placed, prefix: str, others: Sequence[str]) -> Iterator[tuple[Slot, str]]:
    """A row's slot under its name, its older name, and its names in the family's other classes."""
    row, template = placed.row, placed.template
    slot = _slot_of(placed)
    yield slot, template
    if row.older:
        constants = tuple(number for number in numbers_of(template) if isinstance(number, int))
        yield slot._replace(indexes_at=(), left_out=constants), ".".join(filter(None, (row.older, row.leaf)))
    if template.startswith(prefix):
        for other in others:
            yield slot, other + template.removeprefix(prefix)


def _slot_of(placed: Placed) -> Slot:
    row = placed.row
    numbers = numbers_of(placed.template)
    return Slot(
        tower=placed.tower,
        role=row.role,
        part=row.part,
        group="buffer" if row.buffer else group_of(row.role),
        branch=placed.branch,
        layer_at=numbers.index("layer") if "layer" in numbers else None,
        expert_at=numbers.index("expert") if "expert" in numbers else None,
        indexes_at=tuple(at for at, number in enumerate(numbers) if number not in ("layer", "expert")),
        stacked=bool(row.stacked),
        row=row,
    )


def _tensors(slot: Slot, template: str) -> Iterator[tuple[str, Variant]]:
    """The patterns of a row's weight and bias, and of the two tensors of a parametrised weight."""
    row = slot.row
    assert row is not None
    pattern = pattern_of(re.sub(r"\{\w+\}", "0", template))
    literal = numbers_of(template) if _DIGIT.search(template) else ()  # most names have placeholders alone
    numbers = {at: number for at, number in enumerate(literal) if isinstance(number, int)}
    own = Variant(numbers, slot)
    yield pattern, own
    if row.leaf == "weight" or (row.bias and pattern.endswith("weight")):  # the latter: `in_proj_weight`
        yield pattern.removesuffix("weight") + "bias", Variant(numbers, slot._replace(part="bias"))
    for today, before in SPLIT_WEIGHTS.items():
        if pattern.endswith("." + today):
            yield pattern.removesuffix(today) + before, own


# --- nested families --------------------------------------------------------------------------


def _rows_in_place(family: Family, config: Mapping[str, Any]) -> Iterator[Placed]:
    """Each row of a family, nested families' included."""
    for entry in family.rows:
        if isinstance(entry, Row):
            yield Placed(entry, entry.template, entry.tower, entry.branch)
            continue
        inner, nested = included(entry, config)
        if inner is not None:
            is_frozen = _is_frozen(entry, family, config)
            for placed in _included(inner, nested, entry):
                row = frozen(placed.row) if is_frozen else placed.row
                yield placed._replace(row=row if row.heads == entry.heads else row._replace(heads=entry.heads))


def _is_frozen(include: Include, family: Family, config: Mapping[str, Any]) -> bool:
    """Whether a part's batch norms are frozen; not if the configuration does not say."""
    with suppress(ConfigError):
        return bool(include.frozen) and bool(formula.evaluate(include.frozen, Scope(family, config)))
    return False


def _included(inner: Family, nested: Mapping[str, Any], include: Include) -> Iterator[Placed]:
    """The rows of a nested family under their names in the whole."""
    without, stripped = include.without.split(), taken_off(include, inner)
    head = inner_head(include, inner, str(nested.get("model_type")))
    for placed in _rows_in_place(inner, nested):
        row = placed.row
        if is_left_out(row, without) or (row.heads and head not in row.heads.split()):
            continue
        name = inner_name(include, _as_class(inner, placed.template, head).removeprefix(stripped))
        tower, branch = inner_tower(include, placed.tower), inner_branch(include, placed.branch)
        yield Placed(row, include.template + name, tower, branch)
        if include.tower == "vision" and not include.prefix.endswith("." + OLD_TOWER):
            yield Placed(row, include.template + OLD_TOWER + name, tower, branch)


def _as_class(family: Family, template: str, head: str) -> str:
    """A name in a class of this suffix, whose prefix may differ from the rows'."""
    if not template.startswith(family.prefix):
        return template
    return family.prefix_under(head) + template[len(family.prefix) :]
