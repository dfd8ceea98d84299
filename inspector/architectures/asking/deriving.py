"""An answer's numbers → formulas: what a number becomes where one field of a configuration has another value.

A dimension that doubles with a field has it as a factor, one that halves as a divisor; what is left over is a sum. A
formula that does not explain a probe is none: the fields that show it stay fixed (`learning`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from inspector.architectures.asking.answers import Held, Probe, are_words, flattened
from inspector.architectures.naming.by_words import numbers_in, pattern_of


class Change(NamedTuple):
    """A field that was changed, and what became of a number."""

    field: str
    before: int
    after: int
    number: int


def expressed(number: int, changes: Sequence[Change]) -> str | None:
    """The formula of a number, of which these are all changes by single fields; None if none is found."""
    own = [each for each in changes if each.number != number]
    above = [each for each in own if each.number * each.before == number * each.after]
    below = [each for each in own if each.number * each.after == number * each.before and each not in above]
    rest = [each for each in own if each not in above and each not in below]
    if not rest:
        return _product(number, above, below)
    if below:
        return None
    whole = prod(each.before for each in above)
    if number % whole or any(each.number % whole for each in rest):
        return None
    inner = _sum(number // whole, [each._replace(number=each.number // whole) for each in rest])
    if inner is None or not above:
        return inner
    return " * ".join((*(each.field for each in above), f"({inner})"))


def _product(number: int, above: Sequence[Change], below: Sequence[Change]) -> str | None:
    over, under = prod(each.before for each in above), prod(each.before for each in below)
    factor, left = divmod(number * under, over) if over else (0, 1)
    fields = [each.field for each in above]
    if left:  # a fraction of the fields
        divisor, left = divmod(over, number * under)
        below_too = [str(divisor), *(each.field for each in below)]
        return None if left else f"{' * '.join(fields)} // {_bracketed(below_too)}"
    factors = [*([str(factor)] if factor != 1 or not fields else []), *fields]
    text = " * ".join(factors)
    return f"{text} // {_bracketed([each.field for each in below])}" if below else text


def _bracketed(factors: Sequence[str]) -> str:
    return factors[0] if len(factors) == 1 else f"({' * '.join(factors)})"


def _sum(number: int, changes: Sequence[Change]) -> str | None:
    """A sum of terms of a field each, or of two fields, without a constant if there is a way."""
    terms: list[tuple[Change, int]] = []
    for each in changes:
        slope, left = divmod(each.number - number, each.after - each.before)
        if left or not slope:
            return None
        terms.append((each, slope * each.before))
    found = min(_paired(terms, number - sum(term for _, term in terms)), key=lambda pairs: pairs[0])[1]
    texts = [_term(term, fields) for fields, term in found]
    rest = number - sum(term for _, term in found)
    return " + ".join([*texts, *([str(rest)] if rest else [])]).replace("+ -", "- ")


def _term(term: int, fields: Sequence[Change]) -> str:
    factor = term // prod(each.before for each in fields)
    return " * ".join([*([str(factor)] if factor != 1 else []), *(each.field for each in fields)])


_Terms = list[tuple[tuple[Change, ...], int]]


def _paired(terms: Sequence[tuple[Change, int]], constant: int) -> Iterator[tuple[tuple[bool, int], _Terms]]:
    """All ways to read terms as products of two fields, each with how bad it is: a constant, and unlike names.

    A product is seen twice, by either field: once as much is too little in the constant.
    """
    if not terms:
        yield (constant != 0, 0), []
        return
    (first, own), *others = terms
    for badness, rest in _paired(others, constant):
        yield badness, [((first,), own), *rest]
    for at, (second, its) in enumerate(others):
        least = min(own, its)
        if least % (first.before * second.before) or constant + least > 0:
            continue
        more, less = (first, second) if own > its else (second, first)
        beyond = [((more,), abs(own - its))] if own != its else []
        if beyond and beyond[0][1] % more.before:
            continue
        for (left, unlike), rest in _paired([*others[:at], *others[at + 1 :]], constant + least):
            names = len(set(less.field.split("_")) ^ set(more.field.split("_")))
            yield (left, unlike + names), [((first, second), least), *beyond, *rest]


# --- all numbers of an answer ---------------------------------------------------------------------


class Formulas:
    """The numbers of an answer as formulas, by what its probes show."""

    def __init__(self, probes: Sequence[Probe], fields: Mapping[str, Any]) -> None:
        self._probes = probes
        self._fields = fields
        self._shapes = [{name: shape for name, shape, _ in each.answer.everything} for each in probes]
        self._bounds = [_bounds(shapes) for shapes in self._shapes]
        self._known: dict[tuple[Any, ...], str] = {}

    def dimension(self, name: str, at: int, number: int) -> str:
        """One dimension of a tensor."""
        numbers = [shapes[name][at] if name in shapes and at < len(shapes[name]) else number for shapes in self._shapes]
        return self._text(number, numbers)

    def bound(self, pattern: str, at: int, number: int) -> str:
        """One past the highest number at a place in names."""
        return self._text(number, [bounds[pattern][at] if pattern in bounds else number for bounds in self._bounds])

    def length(self, path: str) -> str:
        """The number of items in a list."""
        number = len(self._fields[path])
        lists = [dict(flattened(each.answer.config)).get(path) for each in self._probes]
        return self._text(number, [len(each) if isinstance(each, list) else number for each in lists])

    def ranges(self, pattern: str, bounds: Sequence[int], by: Mapping[int, str], one: bool) -> list[str]:
        """The bounds of a row's placeholders: the length of a list for those of `by`, formulas if there is one row."""
        texts = [self.bound(pattern, at, number) if one else str(number) for at, number in enumerate(bounds)]
        return [self.length(by[at]) if at in by else text for at, text in enumerate(texts)]

    def held(self, layer: int, part: int, own: Held, field: str) -> str:
        """A number of what a layer's cache holds."""
        others = [_held_at(each.answer.held, layer, part, own) for each in self._probes]
        return self._text(getattr(own, field), [getattr(each, field) for each in others])

    def layers(self, number: int) -> str:
        """The number of layers that have a cache."""
        return self._text(number, [len(each.answer.held) or number for each in self._probes])

    def derived(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Fields that the class completes from others, each with its formula."""
        for path in sorted(paths):
            if isinstance(self._fields[path], list) and (text := self._repeated(path)):
                yield path, text
        yield from self._numbers(paths)

    def _repeated(self, path: str) -> str | None:
        """A list with an item for each layer, as a formula: one word, and another in each n-th layer or the first."""
        items = self._fields[path]
        if not are_words(items):
            return None
        length = self.length(path)
        if len(set(items)) == 1:
            return f"[{items[0]!r} for layer in range({length})]"
        patterns: tuple[tuple[_Pattern, str], ...] = ((_every, "(layer + 1) % {} == 0"), (_first, "layer < {}"))
        for pattern, condition in patterns:
            if found := pattern(items):
                others = [pattern(probe.answer.lists.get(path, ())) for probe in self._probes]
                number = self._text(found[0], [each[0] if each else found[0] for each in others])
                where = condition.format(number if number.isidentifier() or number.isdigit() else f"({number})")
                return f"[{found[1]!r} if {where} else {found[2]!r} for layer in range({length})]"
        return None

    def _numbers(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        configs = [dict(flattened(each.answer.config)) for each in self._probes]
        for path in sorted(paths):
            number = self._fields[path]
            changes = [
                Change(each.field, self._fields[each.field], each.value, config.get(path, number))
                for each, config in zip(self._probes, configs, strict=True)
                if each.field != path
            ]
            if type(number) is not int or all(each.number == number for each in changes):
                continue
            if all(type(each.number) is int for each in changes) and (text := expressed(number, changes)):
                yield path, text

    def _text(self, number: int, numbers: Sequence[int]) -> str:
        key = (number, *numbers)
        if key not in self._known:
            changes = [
                Change(each.field, self._fields[each.field], each.value, became)
                for each, became in zip(self._probes, numbers, strict=True)
            ]
            self._known[key] = expressed(number, changes) or str(number)
        return self._known[key]


_Pattern = Callable[[Sequence[Any]], "tuple[int, Any, Any] | None"]


def _every(items: Sequence[Any]) -> tuple[int, Any, Any] | None:
    """Another word in every n-th layer: n, that word, and the usual one."""
    at = next((at for at, each in enumerate(items) if each != items[0]), None)
    if not at or any(each != items[at if (number + 1) % (at + 1) == 0 else 0] for number, each in enumerate(items)):
        return None
    return at + 1, items[at], items[0]


def _first(items: Sequence[Any]) -> tuple[int, Any, Any] | None:
    """Another word for the first layers: how many, that word, and the usual one."""
    at = next((at for at, each in enumerate(items) if each != items[0]), None)
    return (at, items[0], items[at]) if at and len({*items[at:]}) == 1 else None


def _held_at(held: Sequence[Sequence[Held]], layer: int, part: int, own: Held) -> Held:
    """The same part of a layer's cache in a probe, or of the first layer that has one of its kind; else itself."""
    for parts in (*held[layer : layer + 1], *held):
        if part < len(parts) and parts[part].kind == own.kind:
            return parts[part]
    return own


def _bounds(shapes: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name in shapes:
        numbers = [int(each) + 1 for each in numbers_in(name)]
        pattern = pattern_of(name)
        found[pattern] = list(map(max, found[pattern], numbers)) if pattern in found else numbers
    return found
