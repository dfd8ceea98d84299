"""Rows that differ in a number of their name alone, as one row that counts.

`layer1.0.conv1`, `layer1.1.conv1`, `layer1.2.conv1` of one shape are `layer1.{layer<3}.conv1`; where the first has
another shape, the others are the same row `when` the index is greater than 0.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from stacks import variable_for

from inspector.architectures import formula
from inspector.architectures.table import Include, Row

#: A pattern of fewer rows is left as it is.
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
    """The words of a name; a placeholder is one, whatever its bound holds."""
    return re.findall(r"(?:\{[^{}]*\}|[^.{}])+", name)


def _joined(group: list[Row]) -> list[Row] | None:
    """The rows of one pattern with their last literal number counted; None where they differ in more than that."""
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
    """Numbers that follow each other: first, and the one after the last."""
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
