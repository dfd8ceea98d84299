"""Selects tensors by name, role, group, tower, dtype or layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from inspector.errors import TargetError, UsageError
from inspector.model import Labelled
from inspector.units import escape

_MOST = 30  # values that are listed if nothing matches


class Filter(NamedTuple):
    """Criteria for tensors; None matches any."""

    pattern: str | None = None  # a glob over whole names, a part of a name, a role, a group or a dtype
    roles: Sequence[str] = ()
    groups: Sequence[str] = ()
    towers: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    layers: str | None = None  # "3", "3-7", "0,2,4-6"

    @property
    def words(self) -> tuple[tuple[str, Sequence[str], Callable[[Labelled], str]], ...]:
        """The criteria that are lists of words: their kind, the accepted words, and what gets a tensor's own."""
        return (
            ("role", self.roles, lambda each: each.key.role),
            ("group", self.groups, lambda each: each.group),
            ("tower", self.towers, lambda each: each.key.tower),
            ("dtype", self.dtypes, lambda each: each.tensor.dtype),
        )


def select(tensors: Iterable[Labelled], wanted: Filter) -> list[Labelled]:
    """The matching tensors, in order.

    Raises:
        UsageError: `layers` is not a list of numbers and ranges.
        TargetError: none matches; the message lists the available ones.
    """
    everything = list(tensors)
    tests = list(_tests(wanted))
    if not tests:
        return everything
    found = [each for each in everything if all(test(each) for test in tests)]
    if not found and everything:
        raise TargetError(f"no tensor {_criteria(wanted)}; {_available(everything)}")
    return found


Test = Callable[[Labelled], bool]


def _tests(wanted: Filter) -> Iterator[Test]:
    if wanted.layers is not None:
        layers = _layers(wanted.layers)
        yield lambda each: each.key.layer in layers
    if wanted.pattern is not None:
        yield _by_pattern(wanted.pattern)
    for _, words, of in wanted.words:
        if words:
            yield _one_of({word.lower() for word in words}, of)


def _one_of(words: set[str], of: Callable[[Labelled], str]) -> Test:
    return lambda each: of(each).lower() in words


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


def _criteria(wanted: Filter) -> str:
    texts = [f"matches {escape(wanted.pattern, 60)!r}"] if wanted.pattern is not None else []
    for what, words, _ in wanted.words:
        if words:
            texts.append(f"has {what} {' or '.join(escape(word, 40) for word in words)}")
    if wanted.layers is not None:
        texts.append(f"is in layer {escape(wanted.layers, 40)}")
    return " and ".join(texts)


def _available(tensors: Sequence[Labelled]) -> str:
    layers = sorted({each.key.layer for each in tensors if each.key.layer is not None})
    texts = [
        f"roles: {_list(each.key.role for each in tensors)}",
        f"dtypes: {_list(each.tensor.dtype for each in tensors)}",
    ]
    if layers:
        texts.append(f"layers: {layers[0]} to {layers[-1]}")
    return "; ".join(texts)


def _list(words: Iterable[str]) -> str:
    known = sorted(set(words))
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return ", ".join(escape(word, 40) for word in known[:_MOST]) + more
