"""What a name pattern is for: role and branch by the conventions, and words of its path where two would be alike.

Rows that differ in a number of their name alone are one row that counts: `layer1.0.conv1`, `layer1.1.conv1`, … of one
shape are `layer1.{layer<3}.conv1`; where the first has another shape, the others are the same row `when` the index is
greater than 0.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.architectures import family_of, formula
from inspector.architectures.asking.learning import unique, words_of
from inspector.architectures.data.conventions import TOWERS
from inspector.architectures.data.roles import group_of
from inspector.architectures.naming.by_words import by_convention, unwrapped
from inspector.architectures.table import (
    Family,
    Include,
    Row,
    bare_name,
    inner_branch,
    inner_tower,
    is_left_out,
    numbers_of,
)
from zoo import records
from zoo.derive_indexes import variable_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def role_of(pattern: str) -> tuple[str, str]:
    """A role of `roles.ROLES` and its branch; `other` if the words are not known."""
    slot = by_convention(pattern, unwrapped(pattern))
    return (slot.role, slot.branch) if slot.role else ("other", words_of(pattern, 1))


def tower_of(pattern: str) -> str:
    """The part of the model that the path names; `text` if it names none."""
    return next((TOWERS[word] for word in pattern.split(".") if word in TOWERS), "text")


# --- whole types ------------------------------------------------------------------------------


def name_roles(families: Mapping[str, Family]) -> dict[str, Family]:
    """All families with the current roles of the conventions, no key twice in any.

    A part without a draft is the package's own.
    """
    done: dict[str, Family] = {}
    parts = {e.default_type for f in families.values() for e in f.rows if isinstance(e, Include)} - families.keys()
    package = {t: family for t in parts if (family := family_of({"model_type": t}))}

    def name(model_type: str) -> Family:
        if model_type not in done:
            family = families[model_type]
            parts = {e.default_type for e in family.rows if isinstance(e, Include)}
            inner = {**package, **{part: name(part) for part in parts if part in families}}
            done[model_type] = _named(family, {**package, **families}, inner)
        return done[model_type]

    for model_type, family in families.items():
        if all(e.default_type in families or e.default_type in package for e in family.rows if isinstance(e, Include)):
            name(model_type)
    return done


def _named(family: Family, old: Mapping[str, Family], new: Mapping[str, Family]) -> Family:
    includes = [_by_name(e, old) for e in family.rows if isinstance(e, Include)]
    rows = [e for e in family.rows if isinstance(e, Row)]
    return family._replace(rows=(*includes, *named_apart(rows, includes, new)))


def _by_name(include: Include, families: Mapping[str, Family]) -> Include:
    """The names that the outer model leaves out, which stay unchanged."""
    without = include.without.split()
    rows = (row for row in families[include.default_type].rows if isinstance(row, Row))
    return include._replace(without=" ".join(sorted({bare_name(r.name) for r in rows if is_left_out(r, without)})))


def pattern_of(row: Row) -> str:
    """A row's name as `records.pattern_of` writes it."""
    name = re.sub(r"\{\w+(<[^{}]*)?\}", "0", row.name + (f".{row.leaf}" if row.leaf else ""))
    return records.pattern_of(name)[0]


def _key_of(row: Row, tower: str) -> tuple[object, ...]:
    numbers = numbers_of(row.template)
    is_expert = "expert" in numbers or bool(row.stacked)
    return tower, "layer" in numbers, is_expert, len(numbers), row.part == "bias"


def _take(taken: set[tuple[object, ...]], row: Row, role: str, branch: str, key: tuple[object, ...]) -> None:
    taken.add((role, branch, *key))
    if row.leaf == "weight":
        taken.add((role, branch, *key[:-1], True))


def named_apart(rows: Sequence[Row], includes: Sequence[Include], families: Mapping[str, Family]) -> list[Row]:
    """Roles and branches for which no two patterns of the type have the same key."""
    taken: set[tuple[object, ...]] = set()
    for include in includes:
        left_out = include.without.split()
        for row in families[include.default_type].rows:
            read = isinstance(row, Row) and (not row.heads or include.head in row.heads.split())
            if isinstance(row, Row) and read and not is_left_out(row, left_out):
                key = _key_of(row, inner_tower(include, row.tower))
                _take(taken, row, row.role, inner_branch(include, row.branch), key)
    towers = {tower_of(pattern_of(row)) for row in rows} | {include.tower for include in includes}
    alone = {"encoder", "decoder"} & towers
    reported: dict[str, tuple[str, str]] = {}
    done: list[Row] = []
    for row in rows:
        pattern = pattern_of(row)
        tower = tower_of(pattern)
        tower = "text" if len(alone) == 1 and tower in alone and "text" not in {i.tower for i in includes} else tower
        key = _key_of(row, tower)
        weight = _weight_of(row, pattern)
        if weight in reported:
            reported[pattern] = reported[weight]
        if pattern not in reported:
            role, branch = role_of(weight or pattern)
            role = fitting(role, row)
            reported[pattern] = role, unique(taken, key, role, branch, pattern)
            _take(taken, row, *reported[pattern], key)
        role, branch = reported[pattern]
        done.append(row._replace(role=role, branch=branch, tower=tower))
    return done


def fitting(role: str, row: Row) -> str:
    """The role, if the row's dimensions allow it: a norm has no matrix, a convolution more than one dimension."""
    dimensions = len(formula.dimensions(row.shape))
    if row.leaf != "weight" or row.buffer or role in ("layer_scale", "q_norm", "k_norm", "conv_scale"):
        return role
    if group_of(role) == "norm" and 1 < dimensions < 4:
        return "modulation"
    return "conv_norm" if group_of(role) == "convolution" and dimensions == 1 else role


def _weight_of(row: Row, pattern: str) -> str:
    """The pattern of the weight that a bias in a row of its own belongs to; "" for any other tensor."""
    if row.leaf == "bias":
        return pattern.removesuffix("bias") + "weight"
    return pattern.removesuffix("_bias") if re.search(r"(proj|experts\.\w+)_bias$", pattern) else ""


# --- rows that count ---------------------------------------------------------------------------


#: A pattern of fewer rows is left unchanged.
FEW = 3


def compacted(rows: Sequence[Row | Include]) -> list[Row | Include]:
    """The same tensors in fewer rows, at the places of the first of them."""
    found = list(rows)
    for _ in range(4):
        again = _once(found)
        if len(again) == len(found):
            return again
        found = again
    return found


def _once(rows: Sequence[Row | Include]) -> list[Row | Include]:
    """One number of each name, the last that rows differ in."""
    patterns: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if isinstance(row, Row):
            patterns[_pattern(row)].append(row)
    instead: dict[str, list[Row]] = {}
    for pattern, group in patterns.items():
        joined = _joined(group) if len(group) >= FEW else None
        if joined is not None and len(joined) < len(group):
            instead[pattern] = joined
    done: list[Row | Include] = []
    for row in rows:
        pattern = _pattern(row) if isinstance(row, Row) else ""
        if pattern not in instead:
            done.append(row)
        elif instead[pattern]:
            done += instead[pattern]
            instead[pattern] = []
    return done


def _pattern(row: Row) -> str:
    """The name with its numbers as one sign, and the leaf."""
    words = [re.sub(r"^\{\w+<.*\}$|^\{\w+\}$|^\d+$", "#", word) for word in _words(row.name)]
    return ".".join([*words, row.leaf])


def _words(name: str) -> list[str]:
    """The words of a name; a placeholder is one word, whatever its bound contains."""
    return re.findall(r"(?:\{[^{}]*\}|[^.{}])+", name)


def _joined(group: list[Row]) -> list[Row] | None:
    """The rows of one pattern with their last literal number counted; None if they differ in more than that."""
    words = [_words(row.name) for row in group]
    literal = [at for at in range(len(words[0])) if all(w[at].isdigit() for w in words)]
    varying = [at for at in literal if len({w[at] for w in words}) > 1]
    if not varying:
        return None
    at = varying[-1]
    taken = re.findall(r"\{(\w+)", " ".join(row.name for row in group))
    variable = variable_for(words[0][at - 1] if at else "", taken)
    by_rest: dict[Row, set[int]] = defaultdict(set)
    for row, each in zip(group, words, strict=True):
        by_rest[row._replace(name=".".join([*each[:at], "#", *each[at + 1 :]]))].add(int(each[at]))
    joined: list[Row] = []
    for rest, numbers in by_rest.items():
        for first, end in _runs(sorted(numbers)):
            name = (
                rest.name.replace(".#", f".{{{variable}<{end}}}", 1)
                if at
                else rest.name.replace("#", f"{{{variable}<{end}}}", 1)
            )
            joined.append(rest._replace(name=name, when=_from(variable, first, end, rest.when)))
    return joined


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Consecutive numbers: the first, and the one after the last."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def _from(variable: str, first: int, end: int, when: str) -> str:
    """A condition for an index that starts later."""
    if not first:
        return when
    start = (
        f"{variable} == {first}" if end == first + 1 else f"{variable} >= {first}" if first > 1 else f"{variable} > 0"
    )
    rest = f"({when})" if " or " in when or " if " in when else when
    assert formula.names(start) == {variable}
    return f"{start} and {rest}" if rest else start
