"""The results of Jinja's filters and Python's methods on constants, and which calls a chat template may need."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from inspector.auditing import data
from inspector.auditing.readers.jinja.values import Value, python_of


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
    "list": list,
    "replace": lambda text, old, new, count=-1: str(text).replace(str(old), str(new), -1 if count is None else count),
    "reverse": lambda items: items[::-1],
    "sort": sorted,
    "sum": lambda items, _=None, start=0: sum(items, start),
    "safe": lambda text: text,
    "trim": lambda text, chars=None: str(text).strip(chars),
    "unique": lambda items: list(dict.fromkeys(items)),
    "wordcount": lambda text: len(str(text).split()),
    "abs": abs,
    "min": min,
    "max": max,
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
