"""Selects tensors by name, role, group, tower, dtype or layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from inspector.errors import TargetError, UsageError
from inspector.model import Labelled
from inspector.units import escape

_MOST = 30  # values that are listed if nothing matches


class Asked(NamedTuple):
    """Criteria for tensors; None matches any."""

    pattern: str | None = None  # a glob over whole names, a part of a name, a role, a group or a dtype
    roles: Sequence[str] = ()
    groups: Sequence[str] = ()
    towers: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    layers: str | None = None  # "3", "3-7", "0,2,4-6"


def chosen(tensors: Iterable[Labelled], asked: Asked) -> list[Labelled]:
    """The matching tensors, in order.

    Raises:
        UsageError: `layers` is not a list of numbers and ranges.
        TargetError: none matches; the message lists the available ones.
    """
    everything = list(tensors)
    tests = [test for test in _tests(asked) if test]
    found = [each for each in everything if all(test(each) for test in tests)]
    if not found and everything and tests:
        raise TargetError(f"no tensor {_described(asked)}; {_what_there_is(everything)}")
    return found


Test = Callable[[Labelled], bool]


def _tests(asked: Asked) -> tuple[Test | None, ...]:
    layers = _layers(asked.layers) if asked.layers is not None else None
    return (
        _by_pattern(asked.pattern) if asked.pattern is not None else None,
        _one_of(asked.roles, lambda each: each.key.role),
        _one_of(asked.groups, lambda each: each.group),
        _one_of(asked.towers, lambda each: each.key.tower),
        _one_of(asked.dtypes, lambda each: each.tensor.dtype),
        (lambda each: each.key.layer in layers) if layers is not None else None,
    )


def _one_of(words: Sequence[str], of: Callable[[Labelled], str]) -> Test | None:
    wanted = {word.lower() for word in words}
    return (lambda each: of(each).lower() in wanted) if wanted else None


def _by_pattern(pattern: str) -> Test:
    if any(char in pattern for char in "*?["):
        return lambda each: fnmatchcase(each.tensor.name, pattern)
    word = pattern.lower()
    return lambda each: (
        pattern in each.tensor.name or word in (each.key.role.lower(), each.group.lower(), each.tensor.dtype.lower())
    )


def _layers(text: str) -> frozenset[int]:
    """`3-7` → 3 to 7, inclusive."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and len(first) < 7 and (not dash or (last.isdecimal() and len(last) < 7))):
            raise UsageError(f"{escape(text, 40)} is not a list of layers: write 3, 3-7 or 0,2,4-6")
        numbers.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(numbers)


def _described(asked: Asked) -> str:
    told = [f"matches {escape(asked.pattern, 60)!r}"] if asked.pattern is not None else []
    for what, words in (
        ("role", asked.roles),
        ("group", asked.groups),
        ("tower", asked.towers),
        ("dtype", asked.dtypes),
    ):
        if words:
            told.append(f"has {what} {' or '.join(escape(word, 40) for word in words)}")
    if asked.layers is not None:
        told.append(f"is in layer {escape(asked.layers, 40)}")
    return " and ".join(told)


def _what_there_is(tensors: Sequence[Labelled]) -> str:
    layers = sorted({each.key.layer for each in tensors if each.key.layer is not None})
    told = [
        f"roles: {_listed(each.key.role for each in tensors)}",
        f"dtypes: {_listed(each.tensor.dtype for each in tensors)}",
    ]
    if layers:
        told.append(f"layers: {layers[0]} to {layers[-1]}")
    return "; ".join(told)


def _listed(words: Iterable[str]) -> str:
    known = sorted(set(words))
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return ", ".join(escape(word, 40) for word in known[:_MOST]) + more
