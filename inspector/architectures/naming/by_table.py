"""A family's table read backwards: which row a name belongs to.

Names are compared as patterns, in which each number is `{}`; a `Slot` is the purpose of the tensors of one pattern. A
row is entered under every name that it may have: in each class of its family, in older releases and Transformers'
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
from inspector.architectures.data.conventions import HOLDERS, SPLIT_WEIGHTS, WRAPPERS
from inspector.architectures.data.roles import group_of
from inspector.architectures.scope import Scope
from inspector.architectures.table import (
    NUMBERED,
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
from inspector.model import STACKED, Key
from inspector.tabular import NamedTuple

# A number that is a whole word of the path, not the 1 of `conv1d`, and not too long to be an index.
# Some mixtures write `experts.expert_7`.
_NUMBER = re.compile(rf"\.{NUMBERED}?([0-9]{{1,9}})(?![^.])")
_HERE = re.compile(rf"(\.{NUMBERED}?)[0-9]{{1,9}}(?![^.])")
# In a blurred name, a digit that is not a whole word.
_WORD_WITH_DIGIT = re.compile(r"[^.]0|0[^.]")
#: The longest name, in characters, with a pattern and a slot: real names are shorter, and the audit reports others.
LONGEST = 10_000
_BLUR = str.maketrans("123456789", "000000000")


class Names(tuple[str, ...]):
    """Tensors' names with their patterns."""

    @cached_property
    def patterns(self) -> dict[str, list[int]]:
        """Positions by pattern, computed once."""
        return by_pattern(self)


def numbers_in(name: str) -> list[str]:
    """The numbers of a name, one for each `{}` of its pattern."""
    return _NUMBER.findall("." + name) if len(name) <= LONGEST else []


def numbers_in_each(names: Sequence[str]) -> list[list[str]]:
    """The numbers of several names of one pattern, found in one pass."""
    if any(len(name) > LONGEST for name in names):
        return [numbers_in(name) for name in names]
    found = _NUMBER.findall("." + ".".join(names))
    each = len(found) // len(names) if names else 0
    return [found[at * each : at * each + each] for at in range(len(names))]


def pattern_of(name: str) -> str:
    """`model.layers.7.mlp.w1.weight` → `model.layers.{}.mlp.w1.weight`."""
    return _HERE.sub(r"\1{}", "." + name)[1:] if len(name) <= LONGEST else name


def unwrapped(pattern: str) -> str:
    """The pattern without leading words of wrappers: `model.`, `module.`, `transformer.`."""
    first, dot, rest = pattern.partition(".")
    while dot and first in WRAPPERS and ("." in rest or first in HOLDERS):
        pattern = rest
        first, dot, rest = pattern.partition(".")
    return pattern


def by_pattern(names: Sequence[str]) -> dict[str, list[int]]:
    """Positions by pattern: the name with its numbers as `{}`.

    Running one regular expression over half a million names is slow, so digits are blurred first, in one operation on
    all names: `w1` and `w3` then look alike, and only such names are examined individually.
    """
    text = "\n".join(names).translate(_BLUR)
    if text.count("\n") != len(names) - 1 or "{}" in text or "0" * 10 in text:
        return _grouped(pattern_of(name.replace("{}", "{ }")) for name in names)
    while "00" in text:
        text = text.replace("00", "0")
    groups: dict[str, list[int]] = {}
    for blurred, members in _grouped(text.split("\n")).items():
        if _WORD_WITH_DIGIT.search(blurred):
            for pattern, places in _grouped(pattern_of(names[at]) for at in members).items():
                groups.setdefault(pattern, []).extend(members[place] for place in places)
        else:
            groups[pattern_of(names[members[0]])] = members
    return groups


def _grouped(patterns: Iterable[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for at, pattern in enumerate(patterns):
        members = groups.get(pattern)
        if members is None:
            groups[pattern] = members = []
        members.append(at)
    return groups


class Slot(NamedTuple):
    """The purpose of all tensors of one name pattern."""

    tower: str
    role: str  # "" if unknown
    part: str
    group: str
    branch: str = ""
    layer_at: int | None = None  # which number of the name counts layers
    expert_at: int | None = None
    indexes_at: tuple[int, ...] = ()  # further numbers
    stacked: bool = False  # all experts of a layer in one tensor
    row: Row | None = None  # the table's row that explains it
    left_out: tuple[int, ...] = ()  # numbers that the table's name has, but this one does not

    def key(self, numbers: Sequence[str]) -> Key:
        """The key of the tensor with these numbers in its name."""
        return Key(
            self.tower,
            None if self.layer_at is None else int(numbers[self.layer_at]),
            (STACKED if self.stacked else None) if self.expert_at is None else int(numbers[self.expert_at]),
            self.role,
            self.part,
            self.branch,
            tuple(int(numbers[at]) for at in self.indexes_at) if self.indexes_at else self.left_out,
        )

    def keys(self, numbers: Iterable[Sequence[str]]) -> list[Key]:
        """The keys of several tensors, each with its numbers."""
        return [self.key(each) for each in numbers]


NAMELESS = Slot("text", "", "weight", "other")


# --- the rows of a table ----------------------------------------------------------------------------

#: What older releases of Transformers put between a vision tower's name and its parts' names.
OLD_TOWER = "vision_model."


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
        self._whole: dict[str, Slot] = {}
        self._bare: dict[str, Slot] = {}
        variants: dict[str, list[Variant]] = defaultdict(list)
        for pattern, variant in _entries(family, config):
            bare = unwrapped(pattern)
            self._whole.setdefault(pattern, variant.slot)
            self._bare.setdefault(bare, variant.slot)
            for name in {pattern, bare}:
                variants[name].append(variant)
        self._variants = {name: _with_numbers(those) for name, those in variants.items() if _differ(those)}

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
    for placed in _placed(family, config):
        for slot, template in _named(placed, family.prefix, others):
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
        for placed in _placed(family, config):
            if placed.template.startswith(prefix):
                yield from _tensors(_slot_of(placed), placed.template.removeprefix(prefix))


def _named(placed: Placed, prefix: str, others: Sequence[str]) -> Iterator[tuple[Slot, str]]:
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
    numbers = {at: number for at, number in enumerate(numbers_of(template)) if isinstance(number, int)}
    own = Variant(numbers, slot)
    yield pattern, own
    if row.leaf == "weight" or (row.bias and pattern.endswith("weight")):  # the latter: `in_proj_weight`
        yield pattern.removesuffix("weight") + "bias", Variant(numbers, slot._replace(part="bias"))
    for today, before in SPLIT_WEIGHTS.items():
        if pattern.endswith("." + today):
            yield pattern.removesuffix(today) + before, own


# --- nested families --------------------------------------------------------------------------


def _placed(family: Family, config: Mapping[str, Any]) -> Iterator[Placed]:
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
    for placed in _placed(inner, nested):
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
