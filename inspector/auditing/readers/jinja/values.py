"""The possible values of a template's expression, as far as its text shows: constants exactly, the rest by origin.

A template can assemble a name in any way that a language allows. Values made only of constants are evaluated; a string
of constants and something else is `made`, of which only the first letters are known; values from the conversation are
`data`, which a template's author does not choose.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

#: Constants that one expression may evaluate to; beyond that, it is a made string.
MAX_KNOWN = 48
#: Characters, and items, of a constant that is evaluated.
MAX_LENGTH = 4_096
#: Any first letter.
ANY = frozenset(("_",))

Scalar = str | int | float | bool | None


class MacroName(NamedTuple):
    """One of the template's macros, as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Value:
    """The possible outcomes of one expression."""

    known: frozenset[Any] = frozenset()  # scalars, distinguished by type
    items: tuple[Value, ...] | None = None  # a list or tuple, item by item
    made: frozenset[str] | None = None  # first letters of unknown strings; `ANY` if they may be any
    data: bool = False  # comes, or may come, from the conversation; with `items`, any of them in any order
    weight: int = 1  # characters of text in it, and pieces of unknown length

    @property
    def texts(self) -> Iterator[str]:
        return (each for _, each in self.known if isinstance(each, str))

    @property
    def numbers(self) -> Iterator[int]:
        return (each for _, each in self.known if isinstance(each, int) and not isinstance(each, bool))


DATA = Value(data=True)
MADE = Value(made=ANY)
NOTHING = Value()


def constant(*values: Scalar) -> Value:
    longest = max((len(each) for each in values if isinstance(each, str)), default=1)
    return Value(frozenset((type(each).__name__, each) for each in values), weight=max(1, longest))


def of(value: Any) -> Value:
    """The value of an evaluated Python object."""
    if isinstance(value, str) and len(value) > MAX_LENGTH:
        return Value(made=frozenset((value[:1],)), weight=len(value))
    if isinstance(value, (str, int, float, bool, type(None))):
        return constant(value)
    if isinstance(value, (list, tuple, range)) and len(value) <= MAX_LENGTH:
        return Value(items=tuple(map(of, value)), weight=max(1, len(value)))
    return Value(made=ANY, weight=len(value)) if isinstance(value, (list, tuple)) else MADE


def either(values: Iterable[Value]) -> Value:
    """A value that may be any one of several."""
    found = list(values)
    if len(found) == 1:
        return found[0]
    known = frozenset().union(*(each.known for each in found))
    made = [each.made for each in found if each.made is not None]
    lists = [each for each in found if each.items is not None]
    if len(known) > MAX_KNOWN:
        made.append(_firsts_of(known))
        known = frozenset()
    alike = all(each.items == lists[0].items for each in lists)
    items = tuple(dict.fromkeys(item for each in lists[: 1 if alike else None] for item in each.items or ()))
    if len(items) > MAX_KNOWN and not alike:
        made, items, lists = [*made, ANY], (), []
    return Value(
        known,
        (lists[0].items if alike else items) if lists else None,
        frozenset().union(*made) if made else None,
        any(each.data for each in found) or not alike,
        max((each.weight for each in found), default=1),
    )


def _firsts_of(known: Iterable[tuple[str, Any]]) -> frozenset[str]:
    return frozenset(str(each)[:1] for _, each in known)


def firsts(value: Value) -> frozenset[str]:
    """The possible first letters of its text."""
    if value.data or value.items is not None:
        return ANY
    return _firsts_of(value.known) | (value.made or frozenset())


def joined(values: Iterable[Value]) -> Value:
    """Concatenated texts."""
    parts = [each for each in values if each.known != _EMPTY or each.made is not None or each.data]
    weight = sum(each.weight for each in parts)
    if all(is_known(each) for each in parts):
        combined = list(_products(parts))
        if combined:
            whole = ["".join(str(each) for each in texts) for texts in combined]
            if all(len(text) <= MAX_LENGTH for text in whole):
                return constant(*dict.fromkeys(whole))
    first = firsts(parts[0]) if parts else frozenset("")
    return Value(made=first, weight=max(1, weight))


_EMPTY = frozenset((("str", ""),))


def is_known(value: Value) -> bool:
    """Whether it consists only of constants."""
    return bool(value.known) and value.items is None and value.made is None and not value.data


def is_foreign(value: Value) -> bool:
    """Whether none of its text is the template's own: it is from the conversation, or a number."""
    return value.made is None and not any(value.texts) and all(map(is_foreign, value.items or ()))


def python_of(value: Value) -> list[Any] | None:
    """The Python constants that a value may be; None if it may be anything else."""
    if is_known(value):
        return [each for _, each in value.known]
    if value.items is not None and not value.known and value.made is None and not value.data:
        inner = [python_of(each) for each in value.items]
        if all(each is not None and len(each) == 1 for each in inner):
            return [[each[0] for each in inner if each]]
    return None


def _products(parts: list[Value]) -> Iterator[tuple[Any, ...]]:
    """Every combination; empty if there are too many."""
    count = 1
    for each in parts:
        count *= len(each.known)
    if count <= MAX_KNOWN:
        yield from itertools.product(*([each for _, each in part.known] for part in parts))


#: Exceptions raised when evaluating functions of constants.
_FAULTS = (TypeError, ValueError, IndexError, KeyError, OverflowError, ZeroDivisionError, AttributeError, MemoryError)


def worked_out(function: Callable[..., Any], *arguments: Value) -> Value:
    """The result of a function of constants; a made string if an argument is not constant, data if all are foreign."""
    choices = [python_of(each) for each in arguments]
    weight = sum(each.weight for each in arguments)
    if any(each is None for each in choices):
        return DATA if all(map(is_foreign, arguments)) else Value(made=ANY, weight=weight)
    found: list[Value] = []
    combinations = itertools.product(*(each or [] for each in choices))
    for number, combination in enumerate(combinations):
        if number >= MAX_KNOWN:
            return Value(made=ANY, weight=weight)
        try:
            found.append(of(function(*combination)))
        except _FAULTS:
            continue  # an error when rendered: no value
    return either(found) if found else NOTHING


def table(found: list[Value]) -> Value:
    """A dictionary: its keys and values, any of which may result."""
    return Value(items=tuple(found), data=True, weight=max(1, sum(each.weight for each in found)))


def part_of(value: Value) -> Value:
    """An item, an attribute or a piece of a value."""
    if value.items is not None:
        return either(value.items) if value.items else NOTHING
    return DATA if is_foreign(value) else loosened(value)


def any_part(value: Value) -> Value:
    """Some items of a dictionary, or of data from the conversation."""
    return Value(data=True, weight=value.weight) if is_foreign(value) else replace(value, data=True)


def loosened(value: Value) -> Value:
    """A value reduced to its origins."""
    if is_foreign(value):
        return Value(data=True, weight=value.weight)
    return Value(made=ANY, data=value.data, weight=value.weight)


def quoted_items(found: Value) -> Value:
    """A list or dictionary as text: its texts are quoted, and each of their backslashes becomes two."""
    return replace(found, weight=2 * found.weight) if found.items is not None else found


def unknown(parts: list[Value]) -> Value:
    """The possible results of a function that is not evaluated."""
    if all(map(is_foreign, parts)):
        return DATA
    return Value(made=ANY, weight=sum(each.weight for each in parts))
