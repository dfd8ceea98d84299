"""The simplest condition, in `inspector.architectures.formula`'s language, that holds at exactly these observations."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from zoo import derive_expressions as expressions
from zoo.derive_expressions import ANY, Point, Weights, is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Fields that a condition about layers may compare with another.
_COUNTS = re.compile(r"layer|period|freq|offset|interval|step|every|skip|first|depth|block|stage")


@dataclass(frozen=True)
class Test:
    """A condition with the set of points where it holds, one bit each."""

    text: str
    mask: int
    cost: float


class Conditions:
    """All simple conditions over some points."""

    def __init__(self, points: Sequence[Point], weights: Weights = ANY) -> None:
        self.points = points
        self.all = (1 << len(points)) - 1
        self.weights = weights
        tests: dict[int, Test] = {}
        for text, values, cost in self._candidates():
            mask = sum(1 << at for at, value in enumerate(values) if value)
            if mask not in (0, self.all) and (mask not in tests or tests[mask].cost > cost):
                tests[mask] = Test(text, mask, cost)
        self.tests = sorted(tests.values(), key=lambda t: t.cost)

    def _candidates(self) -> Iterator[tuple[str, list[Any], float]]:
        names = dict.fromkeys(name for point in self.points for name in point.fields)
        index = [dict(point.index) for point in self.points]
        whole: list[tuple[str, list[int], float]] = []
        for name in names:
            values: list[Any] = [point.fields.get(name) for point in self.points]
            extra = self.weights.cost(name)
            if extra is None:
                continue
            yield from _of_field(name, values, extra)
            if all(map(is_whole, values)):
                whole.append((name, values, extra))
        for variable in index[0] if index else ():
            at = [each[variable] for each in index]
            if len(set(at)) < 2:
                continue
            for number in (0, 1, 2):
                yield f"{variable} == {number}", [n == number for n in at], 1.5 + number / 2
                yield f"{variable} > {number}", [n > number for n in at], 1.4 + number / 2
            for period in (2, 3, 4):
                for rest in range(period):
                    shown = f"{variable} % {period} == {rest}"
                    if rest == period - 1:
                        shown = f"({variable} + 1) % {period} == 0"
                    yield shown, [n % period == rest for n in at], 3 + period / 10
            for name, numbers, extra in (*whole, *self._lengths(names)):
                yield from _index_and_number(variable, at, name, numbers, extra)
            for name in names:
                lists: list[Any] = [point.fields.get(name) for point in self.points]
                if all(isinstance(each, list) and all(map(is_whole, each)) for each in lists) and any(lists):
                    for other, numbers, extra in whole:
                        if "block" in other or "mem" in other:
                            shown = f"-1 < place({name}, {variable}) < {other}"
                            at_once = zip(at, lists, numbers, strict=True)
                            yield shown, [n in each and each.index(n) < v for n, each, v in at_once], 3 + extra
            counts = [each for each in whole if _COUNTS.search(each[0]) and each[2] <= 1]
            for (one, first, _), (two, second, _) in combinations(counts, 2):
                yield from _index_and_pair(variable, at, (one, first), (two, second))
                yield from _index_and_pair(variable, at, (two, second), (one, first))
            for name in names:
                lists = [point.fields.get(name) for point in self.points]
                if all(isinstance(each, list) for each in lists):
                    extra = self.weights.cost(name)
                    if extra is None:
                        continue
                    yield from _index_and_list(variable, at, name, lists, extra)
        if self.weights.likely or len(whole) <= 20:
            for (one, first, a), (two, second, b) in combinations(whole, 2):
                if (a and b) or (a + b and len(whole) > 24):
                    continue
                cost = 4 + a + b
                yield f"{one} != {two}", [x != y for x, y in zip(first, second, strict=True)], cost
                yield f"{one} == {two}", [x == y for x, y in zip(first, second, strict=True)], cost
                yield f"{one} > {two}", [x > y for x, y in zip(first, second, strict=True)], cost + 0.5
                yield f"{one} < {two}", [x < y for x, y in zip(first, second, strict=True)], cost + 0.5

    def _lengths(self, names: Iterable[str]) -> Iterator[tuple[str, list[int], float]]:
        """The lengths of lists, each number once."""
        seen = set[tuple[int, ...]]()
        for name in names:
            lists: list[Any] = [point.fields.get(name) for point in self.points]
            extra = self.weights.cost(name)
            if extra is not None and all(isinstance(each, list) for each in lists):
                ends = tuple(map(len, lists))
                if ends not in seen:
                    seen.add(ends)
                    yield f"len({name})", list(ends), extra + (0.3 if len(set(ends)) > 1 else 0.8)

    def tell_apart(self, wanted: int, unwanted: int) -> str | None:
        """The simplest condition that holds at all of the first and none of the second, whatever its value elsewhere."""
        found = self._disjunction(wanted, unwanted, 1 if expressions.HASTE else 3)
        return found[0] if found else None

    def explain(self, mask: int) -> str | None:
        """The simplest condition that holds at exactly these points; "" if these are all."""
        if mask == self.all:
            return ""
        reported = self._explain(mask)
        if reported is None and self.weights.strict and self.weights.idle:
            reported = Conditions(self.points, replace(self.weights, strict=False)).explain(mask)
        return reported

    def _explain(self, mask: int) -> str | None:
        found = self._disjunction(mask, self.all & ~mask, 1 if expressions.HASTE else 3)
        if expressions.HASTE:
            return found[0] if found else None
        other = self._disjunction(self.all & ~mask, mask, 2) if found is None or found[1] > 5 else None
        if other and (found is None or other[1] + 1.5 < found[1]):
            return f"not ({other[0]})"
        return found[0] if found else None

    def _conjunction(self, wanted: int, unwanted: int) -> tuple[list[Test], float] | None:
        usable = [t for t in self.tests if not wanted & ~t.mask]
        for test in usable:
            if not unwanted & test.mask:
                return [test], test.cost
        strong = sorted(usable, key=lambda t: t.cost)[:150]
        best: tuple[list[Test], float] | None = None
        for one, two in combinations(strong, 2):
            cost = one.cost + two.cost + 0.5
            if not unwanted & one.mask & two.mask and (best is None or cost < best[1]):
                best = [one, two], cost
        if best:
            return best
        chosen: list[Test] = []
        left = unwanted
        while left and len(chosen) < 4:
            strongest = max(usable, key=lambda t: (left & ~t.mask).bit_count() / (1 + t.cost), default=None)
            if strongest is None or not left & ~strongest.mask:
                return None
            chosen.append(strongest)
            left &= strongest.mask
        return (chosen, sum(t.cost for t in chosen) + len(chosen)) if not left else None

    def _disjunction(self, wanted: int, unwanted: int, depth: int) -> tuple[str, float] | None:
        found = self._conjunction(wanted, unwanted)
        best = (_and(found[0]), found[1]) if found else None
        if depth <= 1 or (best and best[1] <= 4):
            return best
        parts = [t for t in self.tests if t.mask & wanted and wanted & ~t.mask]
        for test in parts[:60]:
            first = self._conjunction(wanted & test.mask, unwanted)
            if first is None or (best and first[1] >= best[1]):
                continue
            covered = self.all
            for each in first[0]:
                covered &= each.mask
            rest = self._disjunction(wanted & ~covered, unwanted, depth - 1)
            if rest and (best is None or first[1] + rest[1] + 1 < best[1]):
                best = f"{_and(first[0])} or {rest[0]}", first[1] + rest[1] + 1
        return best


def _and(tests: Sequence[Test]) -> str:
    return " and ".join(t.text for t in sorted(tests, key=lambda t: t.cost))


def _of_field(name: str, values: list[Any], extra: float) -> Iterator[tuple[str, list[Any], float]]:
    kinds = {type(value) for value in values}
    if bool in kinds and kinds <= {bool, type(None)}:
        yield name, values, 1 + extra
        yield f"not {name}", [not value for value in values], 1.1 + extra
        return
    if type(None) in kinds:
        yield f"{name} is not None", [value is not None for value in values], 1.2 + extra
        yield f"{name} is None", [value is None for value in values], 1.2 + extra
    if kinds <= {int, float, type(None), bool} and kinds & {int, float}:
        yield name, [bool(value) for value in values], 1.3 + extra
        yield f"not {name}", [not value for value in values], 1.4 + extra
        if type(None) not in kinds:
            for number in (1, 2, 3):
                yield f"{name} > {number}", [value > number for value in values], 2 + number / 4 + extra
                yield f"{name} <= {number}", [value <= number for value in values], 2.2 + number / 4 + extra
                yield f"{name} == {number}", [value == number for value in values], 2.5 + number / 4 + extra
    if kinds <= {list, type(None)} and list in kinds:
        yield f"{name}", [bool(value) for value in values], 1.5 + extra
        yield f"not {name}", [not value for value in values], 1.5 + extra
        for item in {v for each in values for v in each or () if isinstance(v, str)}:
            yield f"{item!r} in {name}", [item in (each or ()) for each in values], 1.8 + extra
    for text in {value for value in values if isinstance(value, str)}:
        yield f"{name} == {text!r}", [value == text for value in values], 1.2 + extra
        yield f"{name} != {text!r}", [value != text for value in values], 1.3 + extra


def _index_and_number(
    variable: str, at: list[int], name: str, values: list[int], extra: float
) -> Iterator[tuple[str, list[Any], float]]:
    pairs = list(zip(at, values, strict=True))
    extra += 0.0 if _COUNTS.search(name) else 2.0
    yield f"{variable} < {name}", [n < v for n, v in pairs], 1.3 + extra
    yield f"{variable} >= {name}", [n >= v for n, v in pairs], 1.3 + extra
    yield f"{variable} == {name}", [n == v for n, v in pairs], 2 + extra
    yield f"{variable} < {name} - 1", [n < v - 1 for n, v in pairs], 2 + extra
    yield f"{variable} == {name} - 1", [n == v - 1 for n, v in pairs], 2 + extra
    if all(v > 0 for v in values):
        yield f"{variable} % {name} == 0", [n % v == 0 for n, v in pairs], 1.6 + extra
        yield f"{variable} % {name} != 0", [n % v != 0 for n, v in pairs], 1.7 + extra
        yield f"({variable} + 1) % {name} == 0", [(n + 1) % v == 0 for n, v in pairs], 1.6 + extra
        yield f"({variable} + 1) % {name} != 0", [(n + 1) % v != 0 for n, v in pairs], 1.7 + extra
        yield f"{variable} % {name} == {name} // 2", [n % v == v // 2 for n, v in pairs], 3 + extra


def _index_and_pair(
    variable: str, at: list[int], one: tuple[str, list[int]], two: tuple[str, list[int]]
) -> Iterator[tuple[str, list[Any], float]]:
    rows = list(zip(at, one[1], two[1], strict=True))
    yield f"{variable} >= {one[0]} - {two[0]}", [n >= a - b for n, a, b in rows], 3
    yield f"{variable} < {one[0]} - {two[0]}", [n < a - b for n, a, b in rows], 3
    if all(a > 0 for _, a, _ in rows):
        yield f"{variable} % {one[0]} == {two[0]}", [n % a == b for n, a, b in rows], 3
        yield f"{variable} % {one[0]} != {two[0]}", [n % a != b for n, a, b in rows], 3.1
        yield f"({variable} - {two[0]}) % {one[0]} == 0", [(n - b) % a == 0 for n, a, b in rows], 3


def _index_and_list(
    variable: str, at: list[int], name: str, lists: list[Any], extra: float
) -> Iterator[tuple[str, list[Any], float]]:
    rows = list(zip(at, lists, strict=True))
    extra += 2.0 if name.endswith(("stage_names", "out_features")) else 0.0
    yield f"{variable} in {name}", [n in each for n, each in rows], 1.2 + extra
    yield f"{variable} not in {name}", [n not in each for n, each in rows], 1.2 + extra
    if all(each and all(map(is_whole, each)) and min(each) > 0 and n < sum(each) < 400 for n, each in rows):
        starts = [{sum(each[:at]) for at in range(1, len(each))} for _, each in rows]
        begins = [n in each for n, each in zip(at, starts, strict=True)]
        yield f"stage({name}, {variable}) != stage({name}, {variable} - 1)", begins, 2 + extra
        yield f"stage({name}, {variable}) == stage({name}, {variable} - 1)", [not b for b in begins], 2 + extra
    for text in {item for _, each in rows for item in each if isinstance(item, str)}:
        first = [each.index(text) if text in each else -1 for _, each in rows]
        yield f"{variable} == place({name}, {text!r})", [n == f for n, f in zip(at, first, strict=True)], 2.2 + extra
        if all(each for _, each in rows):
            shown = f"{name}[{variable} % len({name})] == {text!r}"
            yield shown, [each[n % len(each)] == text for n, each in rows], 1.8 + extra
    for at_once, later, cost in ((0, variable, 0.0), (1, f"{variable} + 1", 1.0)):  # parts that the first layer lacks
        if all(n + at_once < len(each) for n, each in rows):
            items = [each[n + at_once] for n, each in rows]
            for text in {item for item in items if isinstance(item, str)}:
                yield f"{name}[{later}] == {text!r}", [item == text for item in items], 1.1 + cost + extra
                yield f"{name}[{later}] != {text!r}", [item != text for item in items], 1.2 + cost + extra
    if all(n < len(each) for n, each in rows):
        items = [each[n] for n, each in rows]
        if all(map(is_whole, items)) and max(items) > 1 and min(items) == 1:
            yield f"{name}[{variable}] > 1", [item > 1 for item in items], 1.3 + extra
            yield f"{name}[{variable}] == 1", [item == 1 for item in items], 1.3 + extra
        if not any(isinstance(item, (str, list)) for item in items):
            yield f"{name}[{variable}]", [bool(item) for item in items], 1.1 + extra
            yield f"not {name}[{variable}]", [not item for item in items], 1.2 + extra
