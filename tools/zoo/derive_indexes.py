"""The numbers in tensors' names: what each counts, and its range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector.architectures.asking.learning import variable
from inspector.architectures.data.conventions import EXPERT_WORDS
from zoo import derive_expressions as expressions
from zoo import trace_formulas as traces
from zoo.derive_expressions import Point
from zoo.derive_study import Pattern, Study
from zoo.records import evaluated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zoo.records import Numbers

#: Words before a layer's number.
LAYER_WORDS = frozenset({"layers", "layer", "h", "blocks", "block", "blk", "decoder_layers", "encoder_layers"})

#: A count that is a field, or the length of one.
_SIMPLE = re.compile(r"[\w.]+(\[\w+\])?|(len|sum)\([\w.]+\)|[\w.]+ [+-] [12]")


@dataclass
class Stack:
    """One number in names: what it counts."""

    variable: str  # "" for a number that is part of the name
    bound: str = ""


class Stacks(Study):
    """Finds the index variables of names, and what bounds them."""

    stacks: Mapping[str, Stack]

    def _stacks(self, patterns: Mapping[str, Pattern]) -> dict[str, Stack]:
        below: dict[str, dict[int, dict[Numbers, dict[int, set[str]]]]] = {}
        for pattern in patterns.values():
            words = pattern.name.split(".")
            places = [at for at, word in enumerate(words) if word == "{}"]
            for depth, place in enumerate(places):
                where, rest = ".".join(words[:place]), ".".join(words[place + 1 :])
                seen = below.setdefault(where, {})
                for at, cells in pattern.cells.items():
                    here = seen.setdefault(at, {})
                    for numbers in cells:
                        here.setdefault(numbers[:depth], {}).setdefault(numbers[depth], set()).add(rest)
        stacks: dict[str, Stack] = {}
        for where in sorted(below, key=lambda w: w.count("{}")):
            stacks[where] = self._stack(where, below[where], stacks)
        return stacks

    def _stack(
        self, where: str, seen: dict[int, dict[Numbers, dict[int, set[str]]]], stacks: dict[str, Stack]
    ) -> Stack:
        before = where.rsplit(".", 1)[-1]
        outer = self._variables(where, stacks)
        sets = {frozenset(inner) for each in seen.values() for inner in each.values()}
        contiguous = all(min(each) == 0 for each in sets)
        kinds = [frozenset(rest) for each in seen.values() for inner in each.values() for rest in inner.values()]
        alike = len(set(kinds)) == 1 or any("." in rest for rest in frozenset.intersection(*kinds))
        points, target, values = [], [], {}
        for at, each in seen.items():
            for numbers, inner in each.items():
                index = tuple((v, n) for v, n in zip(outer, numbers, strict=True) if v)
                points.append(Point(self.completed[at], index))
                target.append(max(inner) + 1)
            values[at] = {numbers: max(inner) + 1 for numbers, inner in each.items()}
        looped = self._looped(points, target, [v for v in outer if v]) if alike and max(target) > 1 else None
        if not looped and alike and min(target) > 2 and re.search(r"stage|block|layers|level|encoder|embed", before):
            looped = self._per_item(points, target)
        if len(sets) == 1 and before not in LAYER_WORDS | EXPERT_WORDS and not looped:
            if not contiguous or len(set(kinds)) > 1 or len(next(iter(sets))) == 1:
                return Stack("")
        bound = looped or self._count_of_layers(points, target) or self._fit(points, target, self.relevant(values))
        few = max(max(each) for each in sets) < 12
        if few and not looped and not (bound and self._is_count(bound, before, points, target)):
            return Stack("")
        if bound is None:
            if len(sets) == 1 and len(next(iter(sets))) <= 64:
                return Stack("")
            self.missed.append(f"bound of {where}.{{}}")
            bound = str(max(target))
        if any(isinstance(n := evaluated(bound, self._tree(each), {}), int) and n < 0 for each in self.completed):
            bound = f"max({bound}, 0)"  # `range(layers - 1)` of no layers
        variable = variable_for(before, [v for v in outer if v])
        return Stack(variable, bound)

    def _per_item(self, points: list[Point], target: list[int]) -> str | None:
        """A list that has an item for each module: the one of their depths, if there are several."""
        names = sorted(self._lists(), key=lambda n: (not re.search(r"depth|blocks|layers", n), len(n)))
        every = (1 << len(points)) - 1
        return next((f"len({name})" for name in names if self._fits(f"len({name})", points, target) == every), None)

    def _is_count(self, bound: str, before: str, points: list[Point], target: list[int]) -> bool:
        """Whether a bound without a loop is a count, and not a coincidence of the numbers of different modules."""
        simple = bool(_SIMPLE.fullmatch(bound))
        if not any(record.trace.shapes for record in self.records):
            return simple or len(set(target)) == 1
        reported = bound.startswith(("len(", "sum(")) or bound == self._count_of_layers(points, target)
        return reported or (simple and (before in EXPERT_WORDS or before == "expert_" or len(set(target)) > 2))

    def _looped(self, points: list[Point], target: list[int], outer: list[str]) -> str | None:
        """The bound of a loop in the model's code that ran as often."""
        every = (1 << len(points)) - 1
        fitting = [text for text in self._ranges(outer) if self._fits(text, points, target) == every]
        return min(fitting, key=lambda t: (not re.search(r"layers|depth|blocks|experts", t), len(t)), default=None)

    def _ranges(self, outer: list[str]) -> list[str]:
        """The bounds of all loops that ran while models were built, by these outer loops' variables."""
        texts = dict.fromkeys(text for record in self.records for text in record.trace.ranges)
        texts |= dict.fromkeys(text.removesuffix(" - 1") for text in texts)
        return [text for reported in texts for text in dict.fromkeys(traces.subscripts(reported, outer))]

    @staticmethod
    def _count_of_layers(points: list[Point], target: list[int]) -> str | None:
        """A number of layers that never changed: the field of that name, or the length of a list."""
        if len(set(target)) > 1 or target[0] < 2:
            return None
        equal = [t.text for t in expressions.atoms(points) if t.values == tuple(target)]
        named = [t for t in equal if re.search(r"(layers|blocks|depth)$|^len\(.*(layer|block|depth)", t)]
        return named[0] if named else None

    @staticmethod
    def _variables(where: str, stacks: Mapping[str, Stack]) -> list[str]:
        words = where.split(".")
        return [stacks[".".join(words[:at])].variable for at, word in enumerate(words) if word == "{}"]

    def _literal_parts(self, pattern: Pattern) -> Iterator[tuple[str, Pattern, list[str]]]:
        """The pattern for each combination of the numbers that are part of its name."""
        variables = self._variables(pattern.name, self.stacks)
        fixed = [at for at, variable in enumerate(variables) if not variable]
        parts: dict[Numbers, Pattern] = {}
        for at, cells in pattern.cells.items():
            for numbers, shape in cells.items():
                literal = tuple(numbers[n] for n in fixed)
                part = parts.setdefault(literal, Pattern(pattern.name))
                part.cells.setdefault(at, {})[numbers] = shape
        for literal, part in sorted(parts.items()):
            values = iter(literal)
            yield self._named(pattern.name, lambda: str(next(values))), part, variables  # noqa: B023

    def _named(self, name: str, literal: Any) -> str:
        words = name.split(".")
        reported: list[str] = []
        for at, word in enumerate(words):
            if word != "{}":
                reported.append(word)
                continue
            stack = self.stacks[".".join(words[:at])]
            reported.append(f"{{{stack.variable}<{stack.bound}}}" if stack.variable else literal())
        return ".".join(reported).replace(".expert_.", ".expert_")


def variable_for(before: str, taken: list[str]) -> str:
    """The package's name of a number; an expert's is its own whatever is taken."""
    return "expert" if before in EXPERT_WORDS or before == "expert_" else variable(before, taken)
