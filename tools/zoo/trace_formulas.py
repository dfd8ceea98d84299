"""The results of `trace.py` as formulas: the expressions of one dimension over many tensors, with indexes as variables.

A traced expression has the numbers of its own tensor in it: `depths[@2]` for layer 2 (`@` marks a loop's count). Over
all tensors of a name pattern these numbers are holes, and an expression that fits a hole everywhere is written into it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: A number in an expression: one counted by a loop, or one in the code.
_HOLE = re.compile(r"@(\d+)|(?<![\w.])(\d+)(?![\w.])")

#: The operand of a subscript.
_LIST = re.compile(r"([\w.]+)\[$")

Index = Mapping[str, int]


@dataclass
class Trace:
    """The trace of one record."""

    shapes: Mapping[str, list[str]] = field(default_factory=dict)  # tensor name → expressions
    ranges: Mapping[str, int] = field(default_factory=dict)  # bound of a loop → its value
    derived: Mapping[str, str] = field(default_factory=dict)  # field → the expression of the configuration class
    optional: Mapping[str, str] = field(default_factory=dict)  # the same, of fields that only models look for


def load(truth: Path, name: str) -> Trace:
    """The trace of a record's file; an empty one where there is none."""
    path = truth.parent / "traces" / name
    if not path.exists():
        return Trace()
    with gzip.open(path, "rt") as stream:
        content = json.load(stream)
    return Trace(content["shapes"], content["ranges"], content["derived"], content.get("optional", {}))


@dataclass(frozen=True)
class Sighting:
    """One dimension of one tensor, as it was traced."""

    text: str
    at: int  # the record
    index: tuple[tuple[str, int], ...]  # index variables of the tensor's name


Fit = Callable[[list[Sighting], list[int]], str | None]
#: The possible index of a list: a text, and its value at each sighting.
Places = Callable[[list[Sighting], str], list[tuple[str, list[int]]]]


def generalized(sightings: Iterable[Sighting], fit: Fit, places: Places) -> list[str]:
    """Formulas of which the sightings are cases, the one with most cases first.

    Args:
        fit: explains numbers that no index explains.
        places: possible indexes in a list of that name, also counted from its end.
    """
    by_form: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in map(_folded, sightings):
        by_form[_HOLE.sub("§", sighting.text)].append(sighting)
    found: Counter[str] = Counter()
    for form, group in by_form.items():
        for text in _filled(form, group, fit, places):
            found[text] += len(group)
    return [text for text, _ in found.most_common()]


def _folded(sighting: Sighting) -> Sighting:
    """`depths[@3 - 1]` as `depths[@2]`, an item by its own index; `one + (other - one)` as `other`."""
    text = re.sub(r"\[@(\d+) ([+-]) (\d+)\]", lambda m: f"[@{int(m[1]) + int(m[2] + m[3])}]", sighting.text)
    text = re.sub(r"([\w.]+) \+ \(([\w.]+) - \1\)", r"\2", text)
    return replace(sighting, text=text) if text != sighting.text else sighting


def _filled(
    form: str,
    group: list[Sighting],
    fit: Fit,
    places: Places,
    depth: int = 2,
    known: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[str]:
    """A form with an expression for each of its holes; in parts if none fits all.

    Args:
        known: expressions found before to fit a hole, by its position.
    """
    holes = [list(_HOLE.finditer(sighting.text)) for sighting in group]
    lists = [_LIST.search(piece) for piece in form.split("§")]
    reported: list[str] = []
    for at, (column, in_list) in enumerate(zip(zip(*holes, strict=True), lists, strict=False)):
        numbers = [int(m[1] or m[2]) for m in column]
        indexes = [dict(s.index) for s in group]
        offered = places(group, in_list[1]) if in_list else []
        text = known.get(at) or hole(numbers, indexes, counted=any(m[1] for m in column))
        text = text or next((t for t, values in offered if values == numbers), None) or fit(group, numbers)
        if text is None:
            parts = list(_split(group, numbers, indexes, offered)) if depth else []
            for part, fitting in parts:
                yield from _filled(form, part, fit, places, depth - 1, {**known, **({at: fitting} if fitting else {})})
            if not parts:
                yield from _apart(group)
            return
        reported.append(text)
    yield _written(form, reported)


def _split(
    group: list[Sighting], numbers: Sequence[int], indexes: Sequence[Index], offered: list[tuple[str, list[int]]]
) -> Iterator[tuple[list[Sighting], str]]:
    """The sightings in parts whose number is the same function of an index, each with that function."""
    variables = [v for v in dict.fromkeys(v for index in indexes for v in index) if all(v in i for i in indexes)]
    columns = [
        (text.format(v), [value(index[v]) for index in indexes]) for v in variables for text, value in _OF_INDEX[:5]
    ]
    fitting = [(t, {at for at, n in enumerate(numbers) if column[at] == n}) for t, column in (*columns, *offered)]
    left = set(range(len(group)))
    parts: list[tuple[set[int], str]] = []
    while left:
        usable = [(t, p) for t, p in fitting if len({numbers[at] for at in p & left}) > 1]
        text, part = max(usable, key=lambda pair: (len(pair[1] & left), len(pair[1])), default=("", set[int]()))
        if not part:
            break
        parts.append((part & left, text))
        left -= part
    if len(parts) < 2 and left:
        return
    if len(left) <= len(group) // 4 and len(parts) + bool(left) > 1:
        for part, text in (*parts, *([(left, "")] if left else [])):
            yield [group[at] for at in sorted(part)], text


def _apart(group: list[Sighting]) -> Iterator[str]:
    common = Counter(_HOLE.sub(lambda m: m[1] or m[2], sighting.text) for sighting in group)
    yield from (text for text, _ in common.most_common(6))


def _written(form: str, reported: Sequence[str]) -> str:
    """Holes filled, in brackets where an adjacent operator binds stronger."""
    values = iter(reported)
    parts: list[str] = []
    for at, piece in enumerate(form.split("§")):
        if at:
            value = next(values)
            bare = re.fullmatch(r"[\w.]+(\[[^\[\]]*\])?|\w+\([^()]*\)", value)
            open_ = parts[-1].endswith(("[", "(", ", ")) and piece.startswith(("]", ")", ","))
            alone = not parts[-1] and not piece
            parts.append(value if bare or open_ or alone else f"({value})")
        parts.append(piece)
    return "".join(parts)


def hole(numbers: Sequence[int], indexes: Sequence[Index], *, counted: bool) -> str | None:
    """The number in an expression as itself, or as a function of an index."""
    if len(set(numbers)) == 1 and (not counted or len(numbers) > 1 or not indexes[0]):
        return str(numbers[0])
    if counted and len(numbers) == 1:
        return next((v for v, n in indexes[0].items() if n == numbers[0]), str(numbers[0]))
    for text, value in _OF_INDEX:
        for variable in dict.fromkeys(v for index in indexes for v in index):
            if all(variable in index for index in indexes):
                if all(value(index[variable]) == n for index, n in zip(indexes, numbers, strict=True)):
                    return text.format(variable)
    return _linear(numbers, indexes)


_OF_INDEX: list[tuple[str, Callable[[int], int]]] = [
    ("{}", lambda n: n),
    ("{} + 1", lambda n: n + 1),
    ("{} - 1", lambda n: n - 1),
    ("{} + 2", lambda n: n + 2),
    ("{} - 2", lambda n: n - 2),
    ("2 ** {}", lambda n: 2**n),
    ("2 ** ({} + 1)", lambda n: 2 ** (n + 1)),
    ("{} // 2", lambda n: n // 2),
    ("{} // 3", lambda n: n // 3),
    ("{} % 2", lambda n: n % 2),
]


def _linear(numbers: Sequence[int], indexes: Sequence[Index]) -> str | None:
    """`a * index + b`, and `a * 2 ** index`."""
    for variable in dict.fromkeys(v for index in indexes for v in index):
        at = [index.get(variable, -1) for index in indexes]
        pairs = sorted(set(zip(at, numbers, strict=True)))
        if len(pairs) < 3 or -1 in at or len({n for n, _ in pairs}) != len(pairs):
            continue
        (x0, y0), (x1, y1) = pairs[0], pairs[1]
        slope, rest = divmod(y1 - y0, x1 - x0)
        start = y0 - slope * x0
        if not rest and slope and all(y == slope * x + start for x, y in pairs):
            product = variable if slope == 1 else f"{slope} * {variable}"
            if slope < 0:
                return f"{start} - {variable}" if slope == -1 else f"{start} - {-slope} * {variable}"
            return f"{product} + {start}" if start > 0 else f"{product} - {-start}" if start else product
        if y0 and x0 == 0 and all(y == y0 * 2**x for x, y in pairs):
            return f"{y0} * 2 ** {variable}"
    return None


def subscripts(text: str, variables: Sequence[str]) -> Iterator[str]:
    """A loop's bound with each outer index in place of its numbers: `depths[@1]` → `depths[layer]`."""
    if "@" not in text and not re.search(r"\[\d+\]", text):
        yield text
        return
    for variable in variables:
        yield re.sub(r"@\d+", variable, re.sub(r"\[\d+\]", f"[{variable}]", text))
    yield re.sub(r"@(\d+)", r"\1", text)
