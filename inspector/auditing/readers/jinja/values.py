"""The possible values of a template's expression, as far as its text shows: constants exactly, the rest by origin.

A template can assemble a name in any way that a language allows. Values made only of constants are evaluated; a string
of constants and something else is `made`, of which only the first letters are known; values from the conversation are
`data`, which a template's author does not choose.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from inspector.auditing import data

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


def is_bare(value: Value) -> bool:
    """Whether it is constant, and no part of a name: it has no letters, digits or underscores."""
    return is_known(value) and not any(re.search(r"\w", str(each)) for _, each in value.known)


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


def _of_text(method: str, text: Any) -> Any:
    return getattr(str(text), method)()


#: Filters that are evaluated on constants.
FILTERS: Mapping[str, Callable[..., Any]] = {
    **{name: partial(_of_text, name) for name in ("capitalize", "lower", "title", "upper")},
    **dict.fromkeys(("string", "e", "escape", "forceescape"), str),
    **dict.fromkeys(("length", "count"), len),
    "striptags": partial(_of_text, "strip"),
    "first": lambda items: items[0],
    "format": lambda text, *arguments: str(text) % arguments,
    "int": lambda value, default=0: int(value) if str(value).lstrip("-").isdecimal() else default,
    "join": lambda items, between="": str(between).join(map(str, items)),
    "last": lambda items: items[-1],
    "replace": lambda text, old, new, count=-1: str(text).replace(str(old), str(new), -1 if count is None else count),
    "reverse": lambda items: items[::-1],
    "sort": sorted,
    "sum": lambda items, _=None, start=0: sum(items, start),
    "safe": lambda text: text,
    "trim": lambda text, chars=None: str(text).strip(chars),
    "unique": lambda items: list(dict.fromkeys(items)),
    "wordcount": lambda text: len(str(text).split()),
    **{each.__name__: each for each in (abs, list, max, min)},
}
_NAMES = data.names("templates")
#: Filters that return their input, or the default.
PASSING = frozenset(_NAMES["passing"])
#: Filters whose result cannot be a name.
COUNTING = frozenset(_NAMES["counting"])
#: Filters that write a text with its quotes and backslashes escaped, which doubles those of one that was escaped.
QUOTING = frozenset(("tojson", "pprint"))
#: Conversions of a format that do the same: `%r`, `%(x)a`, `{!r}`.
QUOTED = re.compile(r"%(?:\(\w*\))?[-#0 +]*[0-9.]*[ra]|![ra]")
#: Filters that turn a list or a dictionary into text first, which quotes the strings in it.
TEXTUAL = frozenset(_NAMES["textual"])
#: Filters that omit nothing.
WHOLE = frozenset(_NAMES["whole"])
#: Filters and methods whose result is a part of their input, whatever their other arguments.
PARTS = frozenset(_NAMES["parts"])
#: Filters that look up an attribute, and the argument with its name: position, or keyword.
LOOKING: Mapping[str, tuple[int | None, str | None]] = _NAMES["looking"]
#: String methods that are evaluated on constants.
TEXT_METHODS: Mapping[str, Callable[..., Any]] = {name: getattr(str, name) for name in _NAMES["text_methods"]}
#: Methods of lists, dictionaries, dates and Jinja's own helpers that templates call.
OTHER_METHODS = frozenset(_NAMES["other_methods"])
#: Attributes that reach Python's internals without an underscore, as listed by Jinja's sandbox.
INTERNAL = frozenset(_NAMES["internal"])
#: Names that no template needs to call.
ACTING = frozenset(_NAMES["acting"])


def is_internal(name: str) -> bool:
    """Whether a name reaches Python's internals: what Jinja's sandbox refuses."""
    return name in INTERNAL or (name.startswith("_") and "__" in name)


def looks_inside(text: str) -> str | None:
    """The field of a format string that accesses an internal, such as `{0.__class__}`."""
    try:
        fields = [field for _, field, spec, _ in string.Formatter().parse(text) if field or spec]
    except ValueError:
        return None
    for field in fields:
        parts = str(field).replace("]", "").replace("[", ".").split(".")
        if any(is_internal(part) for part in parts[1:]):
            return str(field)
    return None


#: A number larger than any width, count or exponent in a template.
LONG_NUMBER = 100_000


def is_huge(*values: Value) -> bool:
    """Whether one of the values may be a number, or contain a width, that causes unbounded work."""
    for value in values:
        if any(abs(each) > LONG_NUMBER for each in value.numbers):
            return True
        for each in value.items or ():
            if any(abs(number) > LONG_NUMBER for number in each.numbers):
                return True
    return False


def is_widened(name: str, text: Value, *arguments: Value) -> bool:
    """Whether a filter that pads or repeats makes a long text implausibly longer."""
    width = max((abs(each) for value in arguments for each in value.numbers), default=0)
    return name in ("indent", "center", "wordwrap") and text.weight * width > LONG_NUMBER * 1000


def grown(name: str, text: Value, *arguments: Value) -> int:
    """The work of `join`, `replace` and `sum`, which insert one text or list into another repeatedly."""
    weights = [each.weight for each in arguments]
    if name == "join" and weights:
        pieces = text.weight if text.items is None else len(text.items)
        return text.weight + pieces * weights[0]
    if name == "sum":  # each partial sum is copied
        return text.weight * text.weight if any(each.items is not None for each in arguments) else 1
    if name == "replace" and len(weights) > 1:
        return text.weight * max(1, weights[1] // weights[0])
    return text.weight + sum(weights)


def is_wide(text: str) -> bool:
    """Whether a format string has a width or precision of five digits or more."""
    run = 0
    for char in text:
        run = run + 1 if char.isdigit() else 0
        if run >= 5 and ("%" in text or "{" in text):
            return True
    return False


def single(value: Value) -> Any:
    """A value's only constant; None if it has several, or is unknown."""
    found = python_of(value)
    return found[0] if found and len(found) == 1 else None
