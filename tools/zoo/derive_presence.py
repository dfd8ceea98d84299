"""When a tensor is present: conditions over the configuration and the indexes of its name."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from inspector.architectures import formula
from inspector.architectures.table import bare
from zoo.derive_conditions import Conditions
from zoo.derive_dimensions import Dimensions
from zoo.derive_expressions import Point
from zoo.records import evaluated, expanded, nested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zoo.derive_study import Pattern
    from zoo.records import Numbers


class Presence(Dimensions):
    """Finds conditions."""

    dims: dict[str, list[str]]  # name of a weight → its dimensions, of those that were found before
    offered: Sequence[str] = ()  # conditions to try first: a shortcut exists if widths differ

    def _when(self, name: str, pattern: Pattern, variables: list[str], classes: set[str]) -> str | None:
        names = [v for v in variables if v]
        words = pattern.name.split(".")
        around = [bare(name).rsplit(".", depth)[0] + "." for depth in (2, 3)]
        beside = (dims for start in around for name, dims in self.dims.items() if name.startswith(start))
        self.offered = list(dict.fromkeys(f"({two}) != ({one})" for one, two, *_ in beside if one != two))[:8]
        where = [".".join(words[:at]) for at, word in enumerate(words) if word == "{}"]
        bounds = [(self.stacks[w].variable, self.stacks[w].bound) for w in where if self.stacks[w].variable]
        present = {
            (at, tuple(n for n, v in zip(numbers, variables, strict=True) if v))
            for at, cells in pattern.cells.items()
            for numbers in cells
        }
        return self._explain(present, bounds, names, classes)

    def _explain(
        self, present: set[tuple[int, Numbers]], bounds: list[tuple[str, str]], names: list[str], classes: set[str]
    ) -> str | None:
        # An index without effect is left out: all experts are there, or none.
        dropped: list[str] = []
        for at in reversed(range(len(names))):
            inner = [b for b in bounds if b[0] != names[at]]
            bound = dict(bounds)[names[at]]
            if any(names[at] in formula.names(b[1]) for b in inner):
                continue
            fewer = {(r, n[:at] + n[at + 1 :]) for r, n in present}
            full = self._count(bounds, fewer, at, names)
            if full == len(present):
                present, bounds = fewer, inner
                names = names[:at] + names[at + 1 :]
                if not formula.names(bound) & set(names):
                    dropped.append(bound)
        places, points = self._universe(tuple(bounds), frozenset(classes), tuple(dropped))
        if not present <= set(places):
            return None
        mask = sum(1 << at for at, place in enumerate(places) if place in present)
        if mask == (1 << len(places)) - 1:
            return ""
        seen: dict[int, Any] = defaultdict(set)
        for record, numbers in present:
            seen[record].add(numbers)
        relevant = self.relevant(dict(seen))
        for text in self.offered:
            holds = [evaluated(text, self._tree(point.fields), dict(point.index)) for point in points]
            if mask == sum(1 << at for at, each in enumerate(holds) if each is True):
                return text
        key = ("conditions", tuple(bounds), frozenset(classes), relevant, tuple(dropped))
        if key not in self._universes:
            self._universes[key] = Conditions(points, relevant)
        return self._universes[key].explain(mask)

    def _universe(
        self, bounds: tuple[tuple[str, str], ...], classes: frozenset[str], dropped: tuple[str, ...] = ()
    ) -> tuple[list[Any], ...]:
        """Every possible place of a tensor with these numbers: (record, numbers), and its point.

        Records in which a `dropped` bound is 0 have no such place.
        """
        key = (bounds, classes, dropped)
        if key not in self._universes:
            places, points = [], []
            for at, record in enumerate(self.records):
                if record.cls not in classes:
                    continue
                tree = nested(self.completed[at])
                if any(evaluated(bound, tree, {}) == 0 for bound in dropped):
                    continue
                for index in expanded(bounds, tree):
                    places.append((at, tuple(index.values())))
                    fields = self.completed[at]
                    points.append(Point(fields, tuple(index.items())))
            self._universes[key] = (places, points)
        return self._universes[key]

    def _count(self, bounds: list[tuple[str, str]], fewer: set[tuple[int, Numbers]], at: int, names: list[str]) -> int:
        """The number of tensors if index `at` ran over its whole range everywhere."""
        name, bound = names[at], dict(bounds)[names[at]]
        total = 0
        for record, numbers in fewer:
            index = dict(zip([n for n in names if n != name], numbers, strict=True))
            value = evaluated(bound, nested(self.completed[record]), index)
            total += value if isinstance(value, int) else 0
        return total

    def _bias(self, weight: Pattern, bias: Pattern, variables: list[str]) -> str | None:
        places: list[Any] = []
        points: list[Any] = []
        mask = 0
        seen: dict[int, Any] = {}
        for at, cells in weight.cells.items():
            for numbers in cells:
                if numbers in bias.cells.get(at, {}):
                    mask |= 1 << len(points)
                    seen[at] = True
                index = tuple((v, n) for v, n in zip(variables, numbers, strict=True) if v and v != "expert")
                points.append(Point(self.completed[at], index))
                places.append(at)
        if mask == (1 << len(points)) - 1:
            return "True"
        if not mask:
            return ""
        both = {at: seen.get(at, False) for at in weight.cells}
        relevant = self.relevant(both)
        per_record = all(
            len({numbers in bias.cells.get(at, {}) for numbers in cells}) == 1 for at, cells in weight.cells.items()
        )
        if per_record:
            whole = list(weight.cells)
            tests = Conditions([Point(self.completed[at]) for at in whole], relevant)
            reported = tests.explain(sum(1 << n for n, at in enumerate(whole) if seen.get(at)))
        else:
            reported = Conditions(points, relevant).explain(mask)
        return reported if reported is None else reported or "True"
