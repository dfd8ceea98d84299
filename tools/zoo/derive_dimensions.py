"""The formula of each dimension: the traced one, several with conditions between them, or one found by a search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from zoo import trace_formulas as traces
from zoo.derive_conditions import Conditions, Test
from zoo.derive_expressions import Point, Weights
from zoo.derive_indexes import Stacks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zoo.derive_study import Pattern

#: Seconds for a dimension that no single expression explains.
PATIENCE = 1.0


class Dimensions(Stacks):
    """Finds formulas of dimensions."""

    deadline = 0.0

    def _dim(self, pattern: Pattern, variables: list[str], dim: int) -> str | None:
        points: list[Point] = []
        target: list[int] = []
        values: dict[int, Any] = {}
        sightings: dict[traces.Sighting, None] = {}
        for at, cells in pattern.cells.items():
            for numbers in cells:
                texts = self.traced[at].get((pattern.name, numbers))
                if texts:
                    index = tuple((v, n) for v, n in zip(variables, numbers, strict=True) if v and v != "expert")
                    sightings[traces.Sighting(texts[dim], at, index)] = None
            kinds = {shape[dim] for shape in cells.values()}
            values[at] = frozenset(kinds)
            for numbers, shape in cells.items():
                index = tuple((v, n) for v, n in zip(variables, numbers, strict=True) if v and v != "expert")
                points.append(Point(self._fields_at(at, dict(index).get("layer")), index))
                target.append(shape[dim])
                if len(kinds) == 1 and points[-1].fields is self.completed[at]:
                    break
        relevant = self.relevant(values)
        reported = self._by_trace(list(sightings), points, target, relevant)
        if reported is not None:
            return reported
        if all(len(v) == 1 for v in values.values()):
            points = [Point(p.fields) for p in points]
        key = ("dim", tuple((id(p.fields), p.index) for p in points), tuple(target))
        if key not in self._universes:
            self.deadline = time.process_time() + PATIENCE
            self._universes[key] = self._piecewise(points, target, relevant)
        return self._universes[key]

    def _fields_at(self, at: int, layer: int | None) -> dict[str, Any]:
        """A record's fields in one layer: some configurations give layers their own values."""
        own = (self.records[at].config.get("per_layer_config") or {}).get(str(layer))
        if not own:
            return self.completed[at]
        key = ("layer", at, layer)
        if key not in self._universes:
            self._universes[key] = {**self.completed[at], **own}
        return self._universes[key]  # type: ignore[no-any-return]

    # --- traced ---

    def _looped(self, points: list[Point], target: list[int], outer: list[str]) -> str | None:
        """The bound of one loop, or those of several with the conditions between them: a flag may leave out the last."""
        return super()._looped(points, target, outer) or self._joined(self._ranges(outer), points, target, Weights(), 1)

    def _by_trace(
        self, sightings: list[traces.Sighting], points: list[Point], target: list[int], relevant: Weights
    ) -> str | None:
        """The traced expression that is right everywhere, or several with the conditions between them."""
        key = ("trace", tuple(sightings), tuple((id(p.fields), p.index) for p in points), tuple(target))
        if key not in self._universes:
            texts = traces.generalized(sightings, self._hole, self._places)
            reported = self._joined(texts, points, target, relevant)
            self._universes[key] = reported or self._mostly(texts, points, target, relevant)
        return self._universes[key]  # type: ignore[no-any-return]

    def _hole(self, group: list[traces.Sighting], numbers: list[int]) -> str | None:
        """A number in a traced expression that no index explains, derived from the fields."""
        points = [Point(self.completed[s.at], s.index) for s in group]
        for variable in dict.fromkeys(v for s in group for v, _ in s.index):
            for name in self._lists():
                for text in (f"stage({name}, {variable})", f"stage({name}, {variable} - 1)"):
                    if self._fits(text, points, numbers) == (1 << len(points)) - 1:
                        return text
        return self._fit(points, numbers, Weights(), fast=True)

    def _places(self, group: list[traces.Sighting], name: str) -> list[tuple[str, list[int]]]:
        """Places in a list that increase or decrease with an index, within its ends."""
        lists = [each for s in group if isinstance(each := self.completed[s.at].get(name), list)]
        if len(lists) < len(group):
            return []
        ends = [len(each) for each in lists]
        found = [(f"len({name}) - {n}", [end - n for end in ends]) for n in (1, 2)]
        for variable in dict.fromkeys(v for s in group for v, _ in s.index):
            at = [dict(s.index).get(variable, -9) for s in group]
            pairs = list(zip(at, ends, strict=True))
            found += [
                (f"max({variable} - 1, 0)", [max(n - 1, 0) for n in at]),
                (f"min({variable} + 1, len({name}) - 1)", [min(n + 1, end - 1) for n, end in pairs]),
                (f"len({name}) - 1 - {variable}", [end - 1 - n for n, end in pairs]),
                (f"len({name}) - {variable}", [end - n for n, end in pairs]),
                (f"len({name}) - 2 - {variable}", [end - 2 - n for n, end in pairs]),
                (f"min(len({name}) - {variable}, len({name}) - 1)", [min(end - n, end - 1) for n, end in pairs]),
                (f"max(len({name}) - 2 - {variable}, 0)", [max(end - 2 - n, 0) for n, end in pairs]),
            ]
        return found

    def _joined(
        self, texts: list[str], points: list[Point], target: list[int], relevant: Weights, depth: int = 3
    ) -> str | None:
        everything = (1 << len(points)) - 1
        masks = {text: mask for text in texts if (mask := self._fits(text, points, target))}
        whole = [text for text in masks if masks[text] == everything]
        if whole:
            return whole[0]
        if not masks or not depth:
            return None
        first = max(masks, key=lambda text: masks[text].bit_count())
        rest = [at for at in range(len(points)) if not masks[first] >> at & 1]
        some, wanted = [points[at] for at in rest], [target[at] for at in rest]
        others = [text for text in masks if text != first]
        second = self._joined(others, some, wanted, relevant, depth - 1)
        if second is None and not others:
            second = self._fit(some, wanted, relevant)
            if second is not None and second.isdigit() and len(rest) < 4:
                return None
        if second is None:
            return None
        own = self._fits(second, points, target)
        return self._either(first, second, masks[first], own, points, relevant)

    def _either(
        self, first: str, second: str, one: int, two: int, points: list[Point], relevant: Weights
    ) -> str | None:
        """`first if condition else second`, whichever way the condition is simpler."""
        everything = (1 << len(points)) - 1
        for weights in (relevant, Weights()):
            tests = Conditions(points, weights)
            options = []
            for wanted, unwanted, a, b in (
                (everything & ~two, everything & ~one, first, second),
                (everything & ~one, everything & ~two, second, first),
            ):
                when = tests.tell_apart(wanted, unwanted)
                if when:
                    options.append(f"{_bracketed(a)} if {when} else {b}")
            for mask, a, b in (
                () if options else ((one, first, second), (everything & ~two, first, second), (two, second, first))
            ):
                when = tests.explain(mask)
                if when:
                    options.append(f"{_bracketed(a)} if {when} else {b}")
            if options:
                return min(options, key=len)
        return None

    def _mostly(self, texts: list[str], points: list[Point], target: list[int], relevant: Weights) -> str | None:
        """An expression that is right except for a few odd configurations, at most one in twelve."""
        mask = 0
        for text in texts:
            mask |= self._fits(text, points, target)
        kept = [at for at in range(len(points)) if mask >> at & 1]
        if not 0 < len(points) - len(kept) <= len(points) // 12:
            return None
        return self._joined(texts, [points[at] for at in kept], [target[at] for at in kept], relevant)

    # --- searched ---

    def _piecewise(self, points: list[Point], target: list[int], relevant: Weights) -> str | None:
        """One expression, or two or three with the conditions between them."""
        whole = self._fit(points, target, relevant)
        if whole is not None or len(points) < 3 or time.process_time() > self.budget:
            return whole
        tests = Conditions(points, relevant).tests
        for depth, number, fast in ((0, 60, True), (1, 30, True), (0, 12, False)):
            found = self._split(points, target, relevant, tests[:number], depth, fast)
            if found:
                return found
        return None

    def _split(
        self,
        points: list[Point],
        target: list[int],
        relevant: Weights,
        tests: Sequence[Test],
        depth: int,
        fast: bool,
    ) -> str | None:
        """`a if condition else b`, each side explained separately."""
        everything = (1 << len(points)) - 1
        for test in tests:
            sides = []
            for side in (test.mask, everything & ~test.mask):
                chosen = [at for at in range(len(points)) if side >> at & 1]
                some, wanted = [points[at] for at in chosen], [target[at] for at in chosen]
                reported = self._fit(some, wanted, relevant, fast)
                if reported is None and depth and len(some) > 2 and time.process_time() < self.deadline:
                    inner = Conditions(some, relevant).tests[:20]
                    reported = self._split(some, wanted, relevant, inner, depth - 1, fast)
                if reported is None or (reported.isdigit() and int(reported) > 16 and len(chosen) < 4):
                    break
                sides.append(reported)
            if len(sides) == 2:
                first = f"({sides[0]})" if " if " in sides[0] else sides[0]
                return f"{first} if {test.text} else {sides[1]}"
            if time.process_time() > self.deadline:
                return None
        return None


def _bracketed(text: str) -> str:
    return f"({text})" if " if " in text else text
