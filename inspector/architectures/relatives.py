"""The nearest relative of a model type without a table: by the fields of its configuration, and its name.

A field counts by how rare it is among tables: `kv_lora_rank` says more than `hidden_size`. A relative reads the fields
that the configuration has, and lacks few that its own types have. Nothing predicted this way is called exact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from math import log
from typing import Any, NamedTuple

from inspector.architectures.data.roles import ROLES
from inspector.architectures.formula import FUNCTIONS
from inspector.architectures.store import Store

_WORDS = re.compile(r"(?<![\w$\"'])[a-z_]\w*")
#: How much a similar name counts beside the fields, and the least that fields must agree.
NAME, LEAST, USUAL = 0.25, 0.35, 0.08
#: Where nothing else decides: the least fit, how much less near is almost as near, how far apart their sizes may be.
#: Of 100 known types under an invented name, 43 are read by fields alone: 37 within 15 %, 3 more than 50 % off.
FITS, AS_NEAR, APART = 0.75, 0.12, 1.5
#: Relatives that are tried, the nearest first: by fields alone, and where tensors decide between them.
MOST, MOST_BY_TENSORS = 8, 100
#: Numbers and generations in a type's name: `qwen3_5`, `apertus1p5`.
_VERSION = re.compile(r"\d+(p\d+)?|v\d+")
#: Fields of a table, and columns of a row, that are formulas or name fields; what it inherits; what says nothing.
_FORMULAS = frozenset({
    "defaults", "derived", "fields", "cache_defaults", "cache_derived", "scope", "when", "bias", "tied", "active",
    "stacked", "first_expert", "with",
})  # fmt: skip
_INHERITED = {"like": "families", "use": "blocks"}
_FOR_PEOPLE = ("about", "source", "made", "notes", "coverage", "outside", "inferable", "signs", "cache", "classes")
_BOUND, _CHOICE = re.compile(r"<([^{}]*)\}"), re.compile(r"\(([^()|]*(?:\|[^()|]*)+)\)")
#: Words of formulas that are not fields.
_NO_FIELDS = frozenset(
    {*ROLES, *FUNCTIONS, "and", "or", "not", "in", "is", "if", "else", "for", "layer", "expert", "text"}
)
#: Fields that say nothing.
_COMMON = frozenset({"model_type", "id2label", "num_labels", "is_encoder_decoder", "hidden_act"})


class Relative(NamedTuple):
    """A known type, and how near it is."""

    model_type: str
    table: str
    nearness: float
    fit: float  # the share of what its fields say that both have


def nearest(
    home: Store, config: Mapping[str, Any], hidden: frozenset[str] = frozenset(), most: int = MOST
) -> list[Relative]:
    """The nearest relatives of a configuration among the tables of a store, the nearest first.

    Args:
        hidden: tables that are left out.
        most: how many.
    """
    known = _fields_of_tables(home)
    rarity = _rarity(home)
    own = {field for field, value in config.items() if value is not None and field in rarity and field not in _COMMON}
    whole = sum(rarity[field] for field in own)
    if not whole:
        return []
    named = str(config.get("model_type"))
    types: dict[str, list[str]] = {}
    for model_type, table in home.types.items():
        types.setdefault(table, []).append(model_type)
    found = []
    for table, fields in known.items():
        if table in hidden or table not in types:
            continue
        common = sum(rarity[field] for field in own & fields)
        agreement = common / (whole + 0.05 * sum(rarity[field] for field in fields - own))
        if agreement < LEAST * 0.5:
            continue
        name, model_type = max((likeness(named, each), each) for each in types[table])
        usual = table if table in types[table] else types[table][0]
        found.append(
            Relative(
                model_type if name > 0.3 else usual,
                table,
                agreement + NAME * name + USUAL * log(len(types[table])),
                agreement,
            )
        )
    return sorted((each for each in found if each.nearness >= LEAST), key=lambda each: -each.nearness)[:most]


def types_beside(home: Store, model_type: str) -> list[str]:
    """The other types of a type's table, one for each set of values that they have of their own."""
    table = home.types[model_type]
    values: Mapping[str, Any] = home.find("families", table)["types"]
    distinct: list[Any] = [values.get(model_type, {})]
    found = []
    for each, own in values.items():
        if own not in distinct:
            distinct.append(own)
            found.append(each)
    return found


def parts_as_relatives(home: Store, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A configuration whose parts of types without a table have their nearest relative's type."""
    changed = {}
    for field, part in config.items():
        own = part.get("model_type") if isinstance(part, Mapping) else None
        if isinstance(own, str) and home.table_of(own) is None and (found := nearest(home, part)):
            changed[field] = {**part, "model_type": found[0].model_type}
    return {**config, **changed}


def likeness(one: str, other: str) -> float:
    """How much of two types' names is the same, from their beginning: `hy_v4_vl` and `hy_v4`."""
    first, second = (_VERSION.sub("#", re.sub(r"[_-]", "", each.lower())) for each in (one, other))
    common = next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    return 2 * common / (len(first) + len(second)) if common >= 2 else 0.0


def _alternatives(text: str) -> Iterator[str]:
    """A text with each of its alternatives: `num_(attention|key_value)_heads`."""
    choice = _CHOICE.search(text)
    if choice is None:
        yield text
        return
    for word in choice[1].split("|"):
        yield from _alternatives(text[: choice.start()] + word + text[choice.end() :])


@cache
def _rarity(home: Store) -> Mapping[str, float]:
    """Field → how much it says: the logarithm of how many tables there are for each that has it."""
    known = _fields_of_tables(home)
    counts = Counter(field for fields in known.values() for field in fields)
    return {field: log(1 + len(known) / number) for field, number in counts.items()}


@cache
def _fields_of_tables(home: Store) -> Mapping[str, frozenset[str]]:
    """Table → the words of its formulas, with those of the tables that it is like and the blocks that it uses."""
    words = _Words(home)
    return {name: words.of("families", name) for name in home.names("families")}


class _Words:
    """The words of formulas in the documents of a store."""

    def __init__(self, home: Store) -> None:
        self._home = home
        self._done: dict[tuple[str, str], frozenset[str]] = {}

    def of(self, kind: str, name: str) -> frozenset[str]:
        """The words of one document; none if it does not exist."""
        place = kind, name
        if place not in self._done:
            self._done[place] = frozenset()
            with suppress(KeyError):
                self._done[place] = frozenset(self._in(self._home.find(kind, name)))
        return self._done[place]

    def _in(self, document: Any) -> Iterator[str]:
        if isinstance(document, Mapping):
            for field, value in document.items():
                yield from self._in_field(field, value)
        elif isinstance(document, list) and len(document) > 2 and all(isinstance(each, str) for each in document[:3]):
            yield from _in_name(document[1])
            yield from _texts(document[2])
            yield from self._in(document[3:])
        elif isinstance(document, list):
            for each in document:
                yield from self._in(each)

    def _in_field(self, field: str, value: Any) -> Iterator[str]:
        if field in _INHERITED:
            yield from self.of(_INHERITED[field], str(value))
        elif field in _FORMULAS:
            yield from _texts(value)
        elif field == "types":
            yield from (word for values in value.values() for word in _texts(list(values)))
        elif field == "let":
            yield from (word for text in _strings(value) for word in _in_name(text))
        elif field not in _FOR_PEOPLE and isinstance(value, (list, Mapping)):
            yield from self._in(value)


def _in_name(text: str) -> Iterator[str]:
    """The words of the bounds in a name, or of a text that is not a name."""
    bounds = _BOUND.findall(text)
    yield from _texts(bounds if bounds or "." in text else text)


def _texts(value: Any) -> Iterator[str]:
    for text in _strings(value):
        for each in _alternatives(text):
            yield from (word for word in _WORDS.findall(each) if word not in _NO_FIELDS)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
