"""Which values do the libraries accept? What the loading rules ask of the tables, and how they word the answer.

`auditing/data/fields.json` has the types of the configurations' fields, extracted from the classes of Transformers,
PEFT, Diffusers and sentence-transformers, and `overlay.json` what was written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from inspector.auditing import data
from inspector.auditing.rule import Found
from inspector.auditing.subject import Subject
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_NAMES = data.names("values")

#: The most findings reported per configuration, and the most items of a list that are checked.
MOST, MOST_ITEMS = 8, 1_000


def documents(subject: Subject, *names: str) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """The JSON documents of these names, each with its contents; empty ones of a file that cannot be read."""
    for entry in subject.named(*names):
        if entry.name in names:
            yield entry, subject.document(entry.path)


def reported(messages: Iterable[str], path: str) -> Iterator[Found]:
    """A finding for each message about a file."""
    return (Found(what, path) for what in messages)


def first_reported(messages: Iterable[str], path: str, beyond: str = "") -> Iterator[Found]:
    """The first findings about a configuration, and the number of further ones if `beyond` names them."""
    wrong = list(messages)
    yield from reported(wrong[:MOST], path)
    if beyond and len(wrong) > MOST:
        yield Found(f"{plural(len(wrong) - MOST, f'further {beyond}')} of the wrong type", path)


#: The table: for `transformers`, `peft` and others, the types that each field accepts.
fields = partial(data.table, "fields")


def is_of_transformers(own: Mapping[str, Any]) -> bool:
    """Whether a configuration is of a model type that Transformers has."""
    kind = own.get("model_type")
    return isinstance(kind, str) and kind in fields()["transformers"]["fields"]


def takes(library: str, kind: str, field: str) -> str | None:
    """The type letters that a model type's field accepts; None if it accepts anything or there is no such field."""
    table = fields()[library]
    if field in table["types"].get(kind, {}):
        return str(table["types"][kind][field])
    return _usual(library, kind).get(field)


@cache
def _usual(library: str, kind: str) -> dict[str, str]:
    """The fields of a type that accept what most types' do."""
    table = fields()[library]
    usual = list(table["usual"].items())
    return dict(usual[place] for place in table["fields"].get(kind, ()))


#: Type letters → their name, in the terms of JSON.
_WORDS = _NAMES["words"]


def kind_of(value: Any) -> str:
    """The letter of a value's type; for a list the letter of its first item, for an empty list those of all lists."""
    if isinstance(value, bool):
        return "b"
    if isinstance(value, dict) and value.keys() == {"__float__"}:  # how Transformers 5 writes NaN and infinity
        return "f"
    for known, letter in ((int, "i"), (float, "f"), (str, "s"), (type(None), "n"), (dict, "d")):
        if isinstance(value, known):
            return letter
    if not value:
        return "IFSBLO"
    if kind_of(value[0]) == "f":
        return "IF"
    items = {bool: "IFSBLO", int: "I", float: "F", str: "S", list: "L", dict: "O", type(None): ""}
    found = items.get(type(value[0]), "IFSBLO")
    return "IF" if found and found in "IF" else found


def wrong_kind(library: str, kind: str, field: str, value: Any) -> str | None:
    """The expected type of a field, if it has another."""
    taken = takes(library, kind, field)
    if taken is None:
        return None
    items = [[each] for each in value[:MOST_ITEMS]] if isinstance(value, list) and value else [value]
    if all(set(kind_of(each)) & set(taken) or (each == [None] and set("IFSLO") <= set(taken)) for each in items):
        return None
    words = [text for letters, text in _WORDS.items() if set(letters) & set(taken)]
    return " or ".join(words) if words else "absent"


def shown(value: Any) -> str:
    return integer(value) if type(value) is int and value > 999 else json.dumps(value, ensure_ascii=False)[:40]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def wrapped(own: Mapping[str, Any], field: str) -> str | None:
    """A document's only key, if everything including `field` is nested under it."""
    inner = next(iter(own.values())) if len(own) == 1 else None
    return next(iter(own)) if isinstance(inner, Mapping) and field in inner else None


def version(text: Any) -> tuple[int, ...]:
    """A release's first two numbers; for a text that is not a release, a number higher than any."""
    parts = str(text).split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else (1 << 30,)


def not_newer(own: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    """Whether a configuration was written by a version of Transformers no newer than the table."""
    return version(own.get("transformers_version")) <= version(table["version"])


@cache
def field_pattern(name: str) -> re.Pattern[str]:
    """The fields that the overlay lists under a name: `sizes`, `divisors`, `dropouts`."""
    return re.compile("|".join(data.overlay("config")[name]))


def wrong_size(field: str, value: Any) -> str | None:
    """Describes an impossible size: a negative one, or 0 for one that others are divided by."""
    if type(value) is not int or value > 0:
        return None
    if value < 0 and field_pattern("sizes").fullmatch(field):
        return f"{integer(value)}, but a size cannot be negative"
    is_divisor = value == 0 and field_pattern("divisors").fullmatch(field)
    return "0, but other sizes are divided by it" if is_divisor else None


def beyond_one(own: Mapping[str, Any]) -> Iterator[str]:
    """Dropout probabilities outside 0 to 1: PyTorch refuses to create the module, or to call it."""
    for field, value in own.items():
        if is_number(value) and field_pattern("dropouts").fullmatch(field) and not 0 <= value <= 1:
            yield f"{field} is {shown(value)}, but a probability lies between 0 and 1"


def unequal_lengths(own: Mapping[str, Any], *names: str) -> Iterator[str]:
    """Lists that go with each other item by item."""
    lists = [own.get(field) for field in names]
    if all(isinstance(each, list) for each in lists) and len({len(each) for each in lists if each is not None}) > 1:
        yield f"{', '.join(names)} have different lengths"
