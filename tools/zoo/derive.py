"""Model types' tables from their records: each name pattern's bounds, shapes and conditions.

    python tools/zoo/derive.py --truth DIR [--types a,b] [--hold p3]

Drafts are kept beside the records, one a type; `write.py` makes modules of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import re
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import records
import search
import traces
from records import Numbers, Record, Shape
from roles import group_hint, role_of, tower_of

from inspector import prediction
from inspector.architectures import formula
from inspector.architectures.conventions import EXPERT_WORDS, LAYER_WORDS
from inspector.architectures.roles import ROLES, group_of
from inspector.architectures.table import Family, Include, Row, class_suffix
from inspector.errors import ConfigError

#: Auto mappings, the one whose class stands for the family first.
AUTOS = [
    "CausalLM",
    "ImageTextToText",
    "Seq2SeqLM",
    "SpeechSeq2Seq",
    "MultimodalLM",
    "MaskedLM",
    "PreTraining",
    "TextToWaveform",
    "TextToSpectrogram",
    "CTC",
    "base",
]
ACTIVE = re.compile(
    r"^(num_experts_per_tok(en)?|moe_topk|moe_k|top_k_experts|num_selected_experts|moe_router_topk|experts_per_token|"
    r"num_experts_per_topk|moe_top_k|top_k|moe_topk_experts|router_top_k|num_active_experts|expert_top_k|experts_top_k|"
    r"moe_num_active_experts|moe_num_experts_per_tok|router_topk)$"
)


#: A count that is a field, or the length of one.
_SIMPLE = re.compile(r"[\w.]+(\[\w+\])?|(len|sum)\([\w.]+\)|[\w.]+ [+-] [12]")

#: Seconds for one dimension that no single expression explains.
PATIENCE = 1.0
#: Seconds for one type, after which only single expressions are tried.
BUDGET = 4.0
#: Seconds of work for one type.
LONGEST = 6.0


@dataclass
class Draft:
    """What was found of one model type."""

    model_type: str
    family: Family
    missed: list[str] = field(default_factory=list)  # patterns without an explanation
    seconds: float = 0.0


class Fields:
    """A record's configuration as a formula's scope, absent and empty fields filled in."""

    def __init__(self, values: Mapping[str, Any], index: Mapping[str, int] | None = None) -> None:
        self.values, self.index = values, index or {}

    def __getitem__(self, name: str) -> Any:
        if name in self.index:
            return self.index[name]
        if name not in self.values:
            raise ConfigError(name)
        return self.values[name]


def nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted paths → objects in objects, as a formula reads them."""
    tree: dict[str, Any] = {}
    for path, value in fields.items():
        *outer, last = path.split(".")
        here = tree
        for word in outer:
            here = here.setdefault(word, {}) if isinstance(here.get(word, {}), dict) else {}
        here[last] = value
    return tree


@dataclass
class Stack:
    """One number in names: what it counts."""

    variable: str  # "" for a number that is part of the name
    bound: str = ""


@dataclass
class Pattern:
    """All tensors of one name pattern, over all records."""

    name: str
    cells: dict[int, dict[Numbers, Shape]] = field(default_factory=dict)  # record → numbers → shape


class Deriver:
    """Finds one type's table."""

    def __init__(self, model_type: str, found: list[Record], raw_defaults: Mapping[str, Any]) -> None:
        self.model_type = model_type
        self.records = found
        self.raw = raw_defaults
        self.derived: dict[str, str] = {}
        self.budget = time.process_time() + BUDGET
        self.missed: list[str] = []
        self._normalize_classes()
        self._complete_fields()
        self.traced = [self._traced(record) for record in found]
        self.changed = self._changes()
        self._universes: dict[Any, Any] = {}
        self._trees: dict[int, Any] = {}

    @staticmethod
    def _traced(record: Record) -> dict[tuple[str, Numbers], list[str]]:
        """Traced expressions by name pattern and numbers."""
        shapes = record.trace.shapes
        return {records.pattern_of(record.family_name(name)): texts for name, texts in shapes.items()}

    # --- classes ---

    def _normalize_classes(self) -> None:
        classes: dict[str, list[Record]] = defaultdict(list)
        for record in self.records:
            classes[record.cls].append(record)
        order = sorted(classes, key=lambda c: (_rank(classes[c][0].auto), -len(classes[c])))
        self.main = order[0]
        self.heads: dict[str, str] = {}
        self.classes: dict[str, str] = {}
        for cls in order:
            suffix = class_suffix(cls) or cls
            if suffix in self.heads.values():
                suffix = cls
                self.classes[cls] = cls
            elif not class_suffix(cls):
                self.classes[cls] = cls
            self.heads[cls] = suffix
        main = _typical(classes[self.main])
        own = f"{main.base_prefix}."
        self.prefix = own if main.base_prefix and any(n.startswith(own) for n in main.shapes) else ""
        if not self.prefix and main.auto == "base" and main.base_prefix:
            others = [_typical(classes[cls]) for cls in order[1:]]
            if any(own + name in other.shapes for other in others for name in main.shapes):
                self.prefix = own
                for record in classes[self.main]:
                    record.rename = "", own
        base = next((_typical(found) for found in classes.values() if found[0].auto == "base"), None)
        if not self.prefix and base is not None and base.cls != self.main:
            words = Counter(n.split(".", 1)[0] + "." for n in main.shapes if n.split(".", 1)[-1] in base.shapes)
            self.prefix = words.most_common(1)[0][0] if words else ""
        self.prefixes: dict[str, str] = {}
        if main.rename != ("", "") and self.heads[self.main] != "Model":
            self.prefixes[self.heads[self.main]] = ""
        wanted = {records.pattern_of(main.family_name(n))[0] for n in main.shapes}
        for cls in order[1:]:
            rename = self._rename(_typical(classes[cls]), wanted)
            for record in classes[cls]:
                record.rename = rename
            old = rename[0] if rename != ("", "") else self.prefix
            usual = "" if self.heads[cls] == "Model" else self.prefix
            if old != usual:
                self.prefixes[self.heads[cls]] = old
            typical = _typical(classes[cls])
            wanted |= {records.pattern_of(typical.family_name(n))[0] for n in typical.shapes}

    def _rename(self, record: Record, wanted: set[str]) -> tuple[str, str]:
        if not self.prefix:
            return "", ""
        options = [("", ""), ("", self.prefix), (f"{record.base_prefix}.", self.prefix)]
        names = {records.pattern_of(n)[0] for n in record.shapes}

        def fits(option: tuple[str, str]) -> int:
            old, new = option
            if option == ("", ""):
                return len(names & wanted)
            return len({new + n[len(old) :] if n.startswith(old) else n for n in names} & wanted)

        return max(options, key=fits)

    # --- fields ---

    def _complete_fields(self) -> None:
        """Fill fields that are empty or absent as the model does, and find the rule for it."""
        keys = dict.fromkeys(key for record in self.records for key in record.fields)
        told: dict[str, Counter[str]] = defaultdict(Counter)
        for record in self.records:
            for key, rule in record.trace.derived.items():
                told[key][re.sub(r"@(\d+)", r"\1", rule)] += 1
        self.points: list[dict[str, Any]] = [dict(record.fields) for record in self.records]
        for key in keys:
            seen = [(at, fields[key]) for at, fields in enumerate(self.points) if key in fields]
            values = [value for _, value in seen if value is not None]
            if not values or len(seen) < len(self.points) or not all(map(search._whole, values)):
                continue
            computed = [at for at, value in seen if value is not None and self._not_given(at, key)]
            empty = [at for at, value in seen if value is None]
            if self._default(key) is None and computed and not self._told_rule(key, told[key], computed):
                self._rule(key, computed, empty)
        for record in self.records:
            self.derived.update(record.trace.optional)
        given = {key for record in self.records for key in record.overrides}
        order = sorted(keys, key=lambda key: key not in given)
        self.completed = [{key: fields[key] for key in order if key in fields} for fields in self.points]
        for key, rule in self.derived.items():
            for fields in self.completed:
                if fields.get(key) is None:
                    value = _evaluate(rule, nested(fields), {})
                    if value is not None:
                        fields[key] = value

    def _told_rule(self, key: str, told: Counter[str], computed: list[int]) -> bool:
        """Take a traced rule for an empty field that is right wherever the field was computed."""
        for rule, _ in told.most_common():
            if all(_evaluate(rule, nested(self.points[at]), {}) == self.points[at][key] for at in computed):
                self.derived[key] = rule
                return True
        return False

    def _not_given(self, at: int, key: str) -> bool:
        return self.records[at].overrides.get(key) is None

    def _default(self, key: str) -> Any:
        return self.raw.get(key)

    def _rule(self, key: str, computed: list[int], empty: list[int]) -> None:
        target = tuple(self.points[at][key] for at in computed)
        if len(set(target)) < 2:
            return
        *scope, _ = key.split(".")
        prefix = ".".join(scope)
        points = [
            search.Point({k: v for k, v in self.points[at].items() if k != key and k.rpartition(".")[0] == prefix})
            for at in computed
        ]
        rule = search.fit(points, target)
        if rule and not rule.isdigit():
            self.derived[key] = rule

    def list_rule(self, key: str) -> str | None:
        """How a list that the configuration may leave out follows from other fields; None where no rule is found."""
        computed = [at for at in range(len(self.records)) if self._not_given(at, key) and self.points[at].get(key)]
        prefix = key.rpartition(".")[0]
        others = [
            {
                k: v
                for k, v in self.completed[at].items()
                if k != key and k.rpartition(".")[0] == prefix and not isinstance(v, list)
            }
            for at in computed
        ]
        lists = [self.points[at][key] for at in computed]
        kinds = sorted({str(item): item for each in lists for item in each}.items())
        if not computed or len(kinds) > 4 or any(isinstance(item, list) for _, item in kinds):
            return None
        length = search.fit([search.Point(o) for o in others], tuple(map(len, lists)))
        points = [
            search.Point(o, (("layer", n),)) for o, each in zip(others, lists, strict=True) for n in range(len(each))
        ]
        items = [item for each in lists for item in each]
        if length is None or len(points) > 3000:
            return None
        tests = search.Conditions(points) if len(kinds) > 1 else None
        kinds.sort(key=lambda pair: items.count(pair[1]))
        told = ""
        for _, kind in kinds[:-1]:
            assert tests is not None
            when = tests.explain(sum(1 << at for at, item in enumerate(items) if item == kind))
            if when is None:
                return None
            told += f"{kind!r} if {when} else "
        return f"[{told}{kinds[-1][1]!r} for layer in range({length})]"

    def _changes(self) -> list[frozenset[str]]:
        """Fields in which each single-field record differs from its base; empty for others."""
        base = {record.cls: at for at, record in enumerate(self.records) if record.variant == "p1"}
        found = []
        for at, record in enumerate(self.records):
            single = record.variant[:2] in ("b_", "i_", "l_", "f_", "s_", "d_") and record.cls in base
            one, two = self.completed[at], self.completed[base.get(record.cls, at)]
            found.append(frozenset(k for k in one if one[k] != two.get(k)) if single else frozenset())
        self.base = base
        return found

    def relevant(self, seen: Mapping[int, Any]) -> search.Weights:
        """How much a field may have to do with what is seen (record → value).

        0 for those whose change alone changed it, nothing for those whose change alone did not.
        """
        found: set[str] = set()
        idle: set[str] = set()
        for at, fields in enumerate(self.changed):
            if not fields:
                continue
            base = self.base[self.records[at].cls]
            if at not in seen and base not in seen:
                continue
            if (at in seen) != (base in seen) or (at in seen and seen[at] != seen[base]):
                found |= fields
            else:
                idle |= fields
        return search.Weights(frozenset(found), frozenset(idle - found))

    # --- patterns ---

    def patterns(self, skip: Sequence[set[str]] | None = None) -> dict[str, Pattern]:
        """All patterns, without the names to skip of each record."""
        found: dict[str, Pattern] = {}
        ordered = sorted(range(len(self.records)), key=lambda at: self.records[at].cls != self.main)
        for at in ordered:
            record = self.records[at]
            for name, shape in record.shapes.items():
                if skip and name in skip[at]:
                    continue
                pattern, numbers = records.pattern_of(record.family_name(name))
                found.setdefault(pattern, Pattern(pattern)).cells.setdefault(at, {})[numbers] = shape
        return found

    def rows(self, skip: Sequence[set[str]] | None = None) -> list[Row]:
        """The whole table but for what is included."""
        patterns = self.patterns(skip)
        self.stacks = self._stacks(patterns)
        rows: list[Row] = []
        for name, pattern in patterns.items():
            if name.endswith("bias") and self._belongs(patterns, name):
                continue
            for part in self._literal_parts(pattern):
                rows += self._row(part, patterns)
        return rows

    def _belongs(self, patterns: Mapping[str, Pattern], name: str) -> bool:
        """Whether a bias goes with its weight's row."""
        weight = patterns.get(name.removesuffix("bias") + "weight")
        if weight is None:
            return False
        bias = patterns[name]
        for at, cells in bias.cells.items():
            for numbers, shape in cells.items():
                full = weight.cells.get(at, {}).get(numbers)
                if full is None or not full or len(shape) != 1 or shape[0] != full[0]:
                    return self._transposed(weight, bias)
        return True

    @staticmethod
    def _transposed(weight: Pattern, bias: Pattern) -> bool:
        pairs = [
            (weight.cells.get(at, {}).get(numbers), shape)
            for at, cells in bias.cells.items()
            for numbers, shape in cells.items()
        ]
        return all(full is not None and len(full) == 2 and shape == full[1:] for full, shape in pairs)

    # --- numbers in names ---

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
                points.append(search.Point(self.completed[at], index))
                target.append(max(inner) + 1)
            values[at] = {numbers: max(inner) + 1 for numbers, inner in each.items()}
        looped = self._looped(points, target, [v for v in outer if v]) if alike and max(target) > 1 else None
        if not looped and alike and min(target) > 2 and re.search(r"stage|block|layers|level|encoder|embed", before):
            looped = self._per_item(points, target)
        if len(sets) == 1 and before not in LAYER_WORDS | EXPERT_WORDS and not looped:
            if not contiguous or len(set(kinds)) > 1 or len(next(iter(sets))) == 1:
                return Stack("")
        bound = (
            looped
            or self._count_of_layers(points, target)
            or self._fit(points, target, self.relevant(values))
        )
        few = max(max(each) for each in sets) < 12
        if few and not looped and not (bound and self._is_count(bound, before, points, target)):
            return Stack("")
        if bound is None:
            if len(sets) == 1 and len(next(iter(sets))) <= 64:
                return Stack("")
            self.missed.append(f"bound of {where}.{{}}")
            bound = str(max(target))
        variable = _variable(before, [v for v in outer if v])
        return Stack(variable, bound)

    def _per_item(self, points: list[search.Point], target: list[int]) -> str | None:
        """A list that has an item for each module: the one of their depths, where there are several."""
        names = sorted(self._lists(), key=lambda n: (not re.search(r"depth|blocks|layers", n), len(n)))
        every = (1 << len(points)) - 1
        return next((f"len({name})" for name in names if self._fits(f"len({name})", points, target) == every), None)

    def _is_count(self, bound: str, before: str, points: list[search.Point], target: list[int]) -> bool:
        """Whether a bound that no loop has is one, and not a coincidence of the numbers of different modules."""
        simple = bool(_SIMPLE.fullmatch(bound))
        if not any(record.trace.shapes for record in self.records):
            return simple or len(set(target)) == 1
        told = bound.startswith(("len(", "sum(")) or bound == self._count_of_layers(points, target)
        return told or (simple and (before in EXPERT_WORDS or len(set(target)) > 2))

    def _looped(self, points: list[search.Point], target: list[int], outer: list[str]) -> str | None:
        """What bounded a loop of the model's code that ran as often."""
        texts = dict.fromkeys(text for record in self.records for text in record.trace.ranges)
        texts |= dict.fromkeys(text.removesuffix(" - 1") for text in texts)
        fitting = [
            text
            for told in texts
            for text in dict.fromkeys(traces.subscripts(told, outer))
            if self._fits(text, points, target) == (1 << len(points)) - 1
        ]
        return min(fitting, key=lambda t: (not re.search(r"layers|depth|blocks|experts", t), len(t)), default=None)

    def _fits(self, text: str, points: Sequence[search.Point], target: Sequence[int]) -> int:
        """The points at which an expression has the value that was seen, a bit a point."""
        mask = 0
        known: dict[Any, Any] = {}
        names = formula.names(text)
        for at, (point, value) in enumerate(zip(points, target, strict=True)):
            index = {v: n for v, n in point.index if v in names}
            key = (id(point.fields), *index.values())
            if key not in known:
                known[key] = _evaluate(text, self._tree(point.fields), index)
            if known[key] == value and not isinstance(known[key], bool):
                mask |= 1 << at
        return mask

    def _tree(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Objects in objects of some fields, made once."""
        if id(fields) not in self._trees:
            self._trees[id(fields)] = fields, nested(fields)
        return self._trees[id(fields)][1]

    @staticmethod
    def _count_of_layers(points: list[search.Point], target: list[int]) -> str | None:
        """A number of layers that never changed: the field of that name, or the length of a list."""
        if len(set(target)) > 1 or target[0] < 2:
            return None
        equal = [t.text for t in search.atoms(points) if t.values == tuple(target)]
        named = [t for t in equal if re.search(r"(layers|blocks|depth)$|^len\(.*(layer|block|depth)", t)]
        return named[0] if named else None

    def _fit(
        self, points: list[search.Point], target: list[int], relevant: search.Weights, fast: bool = False
    ) -> str | None:
        distinct: dict[Any, tuple[search.Point, int]] = {}
        varies = any(point.index for point in points)
        if varies:
            by_fields: dict[int, set[int]] = defaultdict(set)
            for point, value in zip(points, target, strict=True):
                by_fields[id(point.fields)].add(value)
            varies = any(len(each) > 1 for each in by_fields.values())
        for point, value in zip(points, target, strict=True):
            key = (id(point.fields), point.index if varies else ())
            distinct.setdefault(key, (point if varies else search.Point(point.fields), value))
        chosen = list(distinct.values())
        fast = fast or time.process_time() > self.budget
        return search.fit([p for p, _ in chosen], tuple(v for _, v in chosen), relevant, fast=fast)

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
        told: list[str] = []
        for at, word in enumerate(words):
            if word != "{}":
                told.append(word)
                continue
            stack = self.stacks[".".join(words[:at])]
            told.append(f"{{{stack.variable}<{stack.bound}}}" if stack.variable else literal())
        return ".".join(told)

    # --- rows ---

    def _row(self, part: tuple[str, Pattern, list[str]], patterns: Mapping[str, Pattern]) -> list[Row]:
        name, pattern, variables = part
        classes = {self.records[at].cls for at in pattern.cells}
        everywhere = set(self.heads)
        if classes != everywhere and pattern.name.startswith(self.prefix):
            made = self._try_row(name, pattern, variables, patterns, everywhere)
            if made is not None:
                return [made]
        made = self._try_row(name, pattern, variables, patterns, classes)
        if made is not None:
            return [made]
        rows = []
        for cls in sorted(classes):
            cells = {at: cells for at, cells in pattern.cells.items() if self.records[at].cls == cls}
            row = self._try_row(name, Pattern(pattern.name, cells), variables, patterns, {cls}, final=True)
            if row is not None:
                rows.append(row)
        return self._merged(rows)

    @staticmethod
    def _merged(rows: list[Row]) -> list[Row]:
        """Rows that differ in their classes alone, as one."""
        merged: dict[Row, list[str]] = {}
        for row in rows:
            merged.setdefault(replace(row, heads=""), []).append(row.heads)
        return [replace(row, heads=" ".join(heads)) for row, heads in merged.items()]

    def _try_row(
        self,
        name: str,
        pattern: Pattern,
        variables: list[str],
        patterns: Mapping[str, Pattern],
        classes: set[str],
        *,
        final: bool = False,
    ) -> Row | None:
        ranks = {len(shape) for cells in pattern.cells.values() for shape in cells.values()}
        when = self._when(pattern, variables, classes) if len(ranks) == 1 else None
        if when is None and not final:
            return None
        dims = [self._dim(pattern, variables, at) for at in range(max(ranks))] if len(ranks) == 1 else []
        if when is None or any(dim is None for dim in dims):
            if final:
                why = "presence" if when is None else f"dims {dims}"
                self.missed.append(f"{pattern.name} ({why})")
                if len(ranks) > 1:
                    return None
                dims = [dim or str(self._some(pattern)[at]) for at, dim in enumerate(dims)] or [
                    str(n) for n in self._some(pattern)
                ]
                when = when or ""
            else:
                return None
        bias, transposed = self._beside(pattern, variables, patterns, classes)
        if bias is None:
            if not final:
                return None
            self.missed.append(f"{pattern.name} (bias)")
        return self._make(name, pattern, classes, when, [d or "?" for d in dims], bias or "", transposed)

    def _beside(
        self, pattern: Pattern, variables: list[str], patterns: Mapping[str, Pattern], classes: set[str]
    ) -> tuple[str | None, bool]:
        """When a weight has a bias, and whether its length is the weight's last dimension."""
        partner = (
            patterns.get(pattern.name.removesuffix("weight") + "bias") if pattern.name.endswith("weight") else None
        )
        if partner is None or not self._belongs(patterns, partner.name):
            return "", False
        cells = {at: cells for at, cells in partner.cells.items() if self.records[at].cls in classes}
        transposed = self._transposed(pattern, partner) and not self._square(pattern)
        return self._bias(pattern, Pattern(partner.name, cells), variables), transposed

    @staticmethod
    def _some(pattern: Pattern) -> Shape:
        return next(iter(next(iter(pattern.cells.values())).values()))

    def _make(
        self,
        name: str,
        pattern: Pattern,
        classes: set[str],
        when: str,
        dims: list[str],
        bias: str,
        transposed: bool,
    ) -> Row:
        leaf, tied = "", ""
        last = name.rsplit(".", 1)[-1]
        if last in ("weight", "bias") and "." in name:
            name, leaf = name.rsplit(".", 1)
        fewer = re.fullmatch(r"expert < (\w+)", when)
        if fewer:
            name, when = re.sub(r"\{expert<[^}]*\}", f"{{expert<{fewer[1]}}}", name), ""
        words = when.split(" and ")
        ties = [w for w in words if re.fullmatch(r"not (\w+\.)?tie_word_embeddings|not tie_\w*weights?\w*", w)]
        if ties and " or " not in when:
            tied = " or ".join(w.removeprefix("not ") for w in ties)
            when = " and ".join(w for w in words if w not in ties)
        everywhere = classes == set(self.heads)
        at = next(iter(pattern.cells))
        buffers = self._is_buffer(pattern)
        role, tower = role_of(pattern.name, self._some(pattern)), tower_of(pattern.name)
        row = Row(
            role,
            name,
            ", ".join(dims),
            bias=bias,
            when=when,
            heads="" if everywhere else " ".join(self.heads[c] for c in self.heads if c in classes),
            tied=tied,
            tower=tower,
            leaf=leaf,
            transposed=transposed,
        )
        if buffers:
            row = replace(row, buffer=True, persistent=True)
        elif role not in ROLES:
            hint = group_hint(pattern.name, self._some(pattern))
            row = replace(row, group=hint if hint != group_of(role) else "")
        return self._with_experts(row, at)

    @staticmethod
    def _square(pattern: Pattern) -> bool:
        return all(s[0] == s[1] for cells in pattern.cells.values() for s in cells.values())

    def _is_buffer(self, pattern: Pattern) -> bool:
        if "correction_bias" in pattern.name or "expert_bias" in pattern.name:
            return False
        for at in pattern.cells:
            record = self.records[at]
            return any(records.pattern_of(record.family_name(name))[0] == pattern.name for name in record.buffers)
        return False

    def _with_experts(self, row: Row, at: int) -> Row:
        counts = dict(row.indexes)
        first = formula.dimensions(row.shape)[:1]
        stacked = (
            "expert" not in counts
            and re.search(r"(^|\.)experts(\.|$)|expert", row.name)
            and len(formula.dimensions(row.shape)) >= (2 if row.leaf == "bias" or row.name.endswith("bias") else 3)
        )
        if "expert" in counts:
            active = self._active(counts["expert"], at)
            return replace(row, active=active)
        if stacked and first and re.search(r"expert|moe", first[0]) and "shared" not in row.name:
            return replace(row, stacked=first[0], active=self._active(first[0], at))
        return row

    def _active(self, bound: str, at: int) -> str:
        """How many experts work on one token: the field beside the one that counts them."""
        named = next((n for n in search._mentions(bound) if "expert" in n), bound)
        scope = named.rpartition(".")[0] if "." in named else ""
        for path, value in self.completed[at].items():
            head, _, last = path.rpartition(".")
            if head == scope and ACTIVE.match(last) and isinstance(value, (int, list)):
                return path
        return ""

    # --- conditions ---

    def _universe(
        self, bounds: tuple[tuple[str, str], ...], classes: frozenset[str], dropped: tuple[str, ...] = ()
    ) -> tuple[list[Any], ...]:
        """Every place where a tensor with these numbers could be: (record, numbers), and its point.

        Records in which a `dropped` bound is 0 have no place for it.
        """
        key = (bounds, classes, dropped)
        if key not in self._universes:
            places, points = [], []
            for at, record in enumerate(self.records):
                if record.cls not in classes:
                    continue
                tree = nested(self.completed[at])
                if any(_evaluate(bound, tree, {}) == 0 for bound in dropped):
                    continue
                for index in _expand(bounds, tree):
                    places.append((at, tuple(index.values())))
                    fields = self._seen_fields(at)
                    points.append(search.Point(fields, tuple(index.items())))
            self._universes[key] = (places, points)
        return self._universes[key]

    def _seen_fields(self, at: int) -> dict[str, Any]:
        """Fields for conditions: those that a rule fills are filled, others may be empty."""
        return self.completed[at]

    def _when(self, pattern: Pattern, variables: list[str], classes: set[str]) -> str | None:
        names = [v for v in variables if v]
        words = pattern.name.split(".")
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
        # An index that changes nothing is left out: all experts are there, or none.
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
        key = ("conditions", tuple(bounds), frozenset(classes), relevant, tuple(dropped))
        if key not in self._universes:
            self._universes[key] = search.Conditions(points, relevant)
        return self._universes[key].explain(mask)

    def _count(self, bounds: list[tuple[str, str]], fewer: set[tuple[int, Numbers]], at: int, names: list[str]) -> int:
        """Tensors there would be if index `at` ran over its whole range everywhere."""
        name, bound = names[at], dict(bounds)[names[at]]
        total = 0
        for record, numbers in fewer:
            index = dict(zip([n for n in names if n != name], numbers, strict=True))
            value = _evaluate(bound, nested(self.completed[record]), index)
            total += value if isinstance(value, int) else 0
        return total

    def _bias(self, weight: Pattern, bias: Pattern, variables: list[str]) -> str | None:
        places, points, mask = [], [], 0
        seen: dict[int, Any] = {}
        for at, cells in weight.cells.items():
            for numbers in cells:
                if numbers in bias.cells.get(at, {}):
                    mask |= 1 << len(points)
                    seen[at] = True
                index = tuple((v, n) for v, n in zip(variables, numbers, strict=True) if v and v != "expert")
                points.append(search.Point(self.completed[at], index))
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
            tests = search.Conditions([search.Point(self.completed[at]) for at in whole], relevant)
            told = tests.explain(sum(1 << n for n, at in enumerate(whole) if seen.get(at)))
        else:
            told = search.Conditions(points, relevant).explain(mask)
        return told if told is None else told or "True"

    # --- dimensions ---

    def _fields_at(self, at: int, layer: int | None) -> dict[str, Any]:
        """A record's fields in one layer: some configurations give layers their own values."""
        own = (self.records[at].config.get("per_layer_config") or {}).get(str(layer))
        if not own:
            return self.completed[at]
        key = ("layer", at, layer)
        if key not in self._universes:
            self._universes[key] = {**self.completed[at], **own}
        return self._universes[key]  # type: ignore[no-any-return]

    def _dim(self, pattern: Pattern, variables: list[str], dim: int) -> str | None:
        points: list[search.Point] = []
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
                points.append(search.Point(self._fields_at(at, dict(index).get("layer")), index))
                target.append(shape[dim])
                if len(kinds) == 1 and points[-1].fields is self.completed[at]:
                    break
        relevant = self.relevant(values)
        told = self._by_trace(list(sightings), points, target, relevant)
        if told is not None:
            return told
        if all(len(v) == 1 for v in values.values()):
            points = [search.Point(p.fields) for p in points]
        key = ("dim", tuple((id(p.fields), p.index) for p in points), tuple(target))
        if key not in self._universes:
            self.deadline = time.process_time() + PATIENCE
            self._universes[key] = self._piecewise(points, target, relevant)
        return self._universes[key]

    def _by_trace(
        self, sightings: list[traces.Sighting], points: list[search.Point], target: list[int], relevant: search.Weights
    ) -> str | None:
        """The traced expression that is right everywhere, or several with the conditions between them."""
        key = ("trace", tuple(sightings), tuple((id(p.fields), p.index) for p in points), tuple(target))
        if key not in self._universes:
            texts = traces.generalized(sightings, self._hole)
            told = self._joined(texts, points, target, relevant)
            self._universes[key] = told or self._mostly(texts, points, target, relevant)
        return self._universes[key]  # type: ignore[no-any-return]

    def _hole(self, group: list[traces.Sighting], numbers: list[int]) -> str | None:
        """A number in a traced expression that no index explains, from the fields."""
        points = [search.Point(self.completed[s.at], s.index) for s in group]
        for variable in dict.fromkeys(v for s in group for v, _ in s.index):
            for name in self._lists():
                for text in (f"stage({name}, {variable})", f"stage({name}, {variable} - 1)"):
                    if self._fits(text, points, numbers) == (1 << len(points)) - 1:
                        return text
        return self._fit(points, numbers, search.Weights(), fast=True)

    def _mostly(
        self, texts: list[str], points: list[search.Point], target: list[int], relevant: search.Weights
    ) -> str | None:
        """What is right but for a few odd configurations, no more than one in twelve."""
        mask = 0
        for text in texts:
            mask |= self._fits(text, points, target)
        kept = [at for at in range(len(points)) if mask >> at & 1]
        if not 0 < len(points) - len(kept) <= len(points) // 12:
            return None
        return self._joined(texts, [points[at] for at in kept], [target[at] for at in kept], relevant)

    def _lists(self) -> list[str]:
        """Fields that are lists of small counts in every record."""
        if "lists" not in self._universes:
            names = dict.fromkeys(name for fields in self.completed for name in fields)
            self._universes["lists"] = [
                name
                for name in names
                if all(
                    isinstance(fields.get(name), list)
                    and fields[name]
                    and all(search._whole(n) and 0 < n < 200 for n in fields[name])
                    for fields in self.completed
                )
            ]
        return self._universes["lists"]  # type: ignore[no-any-return]

    def _joined(
        self, texts: list[str], points: list[search.Point], target: list[int], relevant: search.Weights, depth: int = 3
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
        self, first: str, second: str, one: int, two: int, points: list[search.Point], relevant: search.Weights
    ) -> str | None:
        """`first if condition else second`, whichever way the condition is simpler."""
        everything = (1 << len(points)) - 1
        for weights in (relevant, search.Weights()):
            tests = search.Conditions(points, weights)
            options = []
            for mask, a, b in ((one, first, second), (everything & ~two, first, second), (two, second, first)):
                when = tests.explain(mask)
                if when:
                    options.append(f"{_bracketed(a)} if {when} else {b}")
            if options:
                return min(options, key=len)
        return None

    def _piecewise(self, points: list[search.Point], target: list[int], relevant: search.Weights) -> str | None:
        """One expression, or two or three with the conditions between them."""
        whole = self._fit(points, target, relevant)
        if whole is not None or len(points) < 3 or time.process_time() > self.budget:
            return whole
        tests = search.Conditions(points, relevant).tests
        for depth, number, fast in ((0, 60, True), (1, 30, True), (0, 12, False)):
            found = self._split(points, target, relevant, tests[:number], depth, fast)
            if found:
                return found
        return None

    def _split(
        self,
        points: list[search.Point],
        target: list[int],
        relevant: search.Weights,
        tests: Sequence[search.Test],
        depth: int,
        fast: bool,
    ) -> str | None:
        """`a if condition else b`, each side explained by itself."""
        everything = (1 << len(points)) - 1
        for test in tests:
            sides = []
            for side in (test.mask, everything & ~test.mask):
                chosen = [at for at in range(len(points)) if side >> at & 1]
                some, wanted = [points[at] for at in chosen], [target[at] for at in chosen]
                told = self._fit(some, wanted, relevant, fast)
                if told is None and depth and len(some) > 2 and time.process_time() < self.deadline:
                    inner = search.Conditions(some, relevant).tests[:20]
                    told = self._split(some, wanted, relevant, inner, depth - 1, fast)
                if told is None or (told.isdigit() and int(told) > 16 and len(chosen) < 4):
                    break
                sides.append(told)
            if len(sides) == 2:
                first = f"({sides[0]})" if " if " in sides[0] else sides[0]
                return f"{first} if {test.text} else {sides[1]}"
            if time.process_time() > self.deadline:
                return None
        return None


def _bracketed(text: str) -> str:
    return f"({text})" if " if " in text else text


def _rank(auto: str) -> int:
    return AUTOS.index(auto) if auto in AUTOS else len(AUTOS) - 1


def _typical(found: list[Record]) -> Record:
    return next((r for r in found if r.variant == "p1"), found[0])


def _variable(before: str, taken: list[str]) -> str:
    if before in EXPERT_WORDS:
        return "expert"
    if "layer" not in taken:
        return "layer"
    word = re.sub(r"\W|\d", "_", before).rstrip("_") or "at"
    word = word[:-1] if word.endswith("s") and len(word) > 2 else word
    while word in taken or word in ("layer", "expert") or word in formula.FUNCTIONS:
        word = "sub" + word
    return word


def _expand(bounds: Sequence[tuple[str, str]], tree: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    def inner(rest: Sequence[tuple[str, str]], index: dict[str, int]) -> Iterator[dict[str, int]]:
        if not rest:
            yield dict(index)
            return
        variable, bound = rest[0]
        count = _evaluate(bound, tree, index)
        for number in range(count if isinstance(count, int) and 0 <= count < 4000 else 0):
            yield from inner(rest[1:], {**index, variable: number})

    yield from inner(bounds, {})


def _evaluate(text: str, tree: Mapping[str, Any], index: Mapping[str, int]) -> Any:
    try:
        return formula.evaluate(text, Fields(tree, index))
    except ConfigError:
        return None


# --- composites -------------------------------------------------------------------------------


def scopes_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Nested configurations that name a model type."""
    return {
        key: str(value["model_type"])
        for key, value in config.items()
        if isinstance(value, Mapping) and value.get("model_type")
    }


def predicted(family: Family, values: Mapping[str, Any], head: str) -> dict[str, tuple[Row, Shape]] | None:
    """Stored names with shapes, and the row of each; None where the table does not fit the configuration."""
    try:
        found = {}
        for row, expected, tied in prediction.expand(family, values, head):
            if not tied and (row.persistent or not row.buffer):
                found.update({expected.name_of(key): (row, expected.shape) for key in expected.keys()})
        return found
    except (ConfigError, KeyError, AttributeError):
        return None


class Includer:
    """Finds which parts of a composite are other types' models."""

    def __init__(self, deriver: Deriver, families: Mapping[str, Family]) -> None:
        self.deriver = deriver
        self.families = families
        self.skip: list[set[str]] = [set() for _ in deriver.records]

    def find(self) -> list[Include]:
        """All includes; the names that they explain are in `skip`."""
        found: list[Include] = []
        by_class: dict[str, list[int]] = defaultdict(list)
        for at, record in enumerate(self.deriver.records):
            by_class[record.cls].append(at)
        scopes: dict[str, str] = {}
        for record in self.deriver.records:
            scopes.update({s: t for s, t in scopes_of(record.config).items() if t in self.families})
        for scope, model_type in scopes.items():
            left = dict(by_class)
            while left:
                cls = min(left, key=lambda c: c != self.deriver.main)
                include = self._include(scope, model_type, left.pop(cls))
                if include is None:
                    continue
                also = [other for other in left if self._holds(include, left[other], model_type)]
                for other in also:
                    left.pop(other)
                classes = {cls, *also}
                heads = " ".join(self.deriver.heads[c] for c in self.deriver.heads if c in classes)
                include = replace(include, heads="" if len(classes) == len(by_class) else heads)
                for other in classes:
                    self._take(include, by_class[other])
                found.append(include)
        return found

    def _names(self, at: int) -> dict[str, Shape]:
        record = self.deriver.records[at]
        return {record.family_name(n): s for n, s in record.shapes.items() if n not in self.skip[at]}

    def _include(self, scope: str, model_type: str, members: list[int]) -> Include | None:
        family = self.families[model_type]
        typical = next((at for at in members if self.deriver.records[at].variant == "p1"), members[0])
        names = self._names(typical)
        values = self._values(typical, scope, model_type)
        best: tuple[int, Include] | None = None
        for head in dict.fromkeys((family.head, "Model", "body")):
            inner = predicted(family, values, head)
            if not inner:
                continue
            for prefix, strip in _prefixes(inner, names, family.prefix):
                moved = {prefix + n.removeprefix(strip): pair for n, pair in inner.items()}
                lacking = {row.role for n, (row, shape) in moved.items() if names.get(n) != shape}
                kept = {n for n, (row, _) in moved.items() if row.role not in lacking}
                if len(kept) < 0.6 * len(moved) or not kept:
                    continue
                tower = TOWER_OF_SCOPE.get(scope, scope.removesuffix("_config"))
                include = Include(scope, prefix, strip, tower, head, model_type, without=" ".join(sorted(lacking)))
                score = len(kept) * 2 - len(lacking) - len(strip) / 100
                if (best is None or score > best[0]) and self._holds(include, members, model_type):
                    best = score, include
        return best[1] if best else None

    def _values(self, at: int, scope: str, model_type: str) -> dict[str, Any]:
        record = self.deriver.records[at]
        nested = record.config.get(scope)
        return {"model_type": model_type, **(nested if isinstance(nested, Mapping) else {})}

    def _holds(self, include: Include, members: list[int], model_type: str) -> bool:
        wrong = 0
        for at in members:
            found = self._included(include, at, model_type)
            names = self._names(at)
            if found is None or any(names.get(n) != shape for n, (_, shape) in found.items()):
                wrong += 1
                if self.deriver.records[at].variant in ("p1", "p2", "default"):
                    return False
        return wrong <= len(members) // 12

    def _included(self, include: Include, at: int, model_type: str) -> dict[str, tuple[Row, Shape]] | None:
        family = self.families[model_type]
        inner = predicted(family, self._values(at, include.scope, model_type), include.head)
        if inner is None:
            return None
        without = include.without.split()
        return {
            include.prefix + n.removeprefix(include.strip): pair
            for n, pair in inner.items()
            if pair[0].role not in without
        }

    def _take(self, include: Include, members: list[int]) -> None:
        for at in members:
            found = self._included(include, at, include.default_type) or {}
            record = self.deriver.records[at]
            self.skip[at] |= {n for n in record.shapes if record.family_name(n) in found}


TOWER_OF_SCOPE = {
    "text_config": "text",
    "thinker_config": "text",
    "llm_config": "text",
    "language_config": "text",
    "vision_config": "vision",
    "audio_config": "audio",
    "audio_encoder_config": "audio",
    "speech_config": "audio",
    "encoder": "encoder",
    "decoder": "decoder",
    "qformer_config": "projector",
    "backbone_config": "vision",
}


def _prefixes(inner: Mapping[str, Any], names: Mapping[str, Shape], family_prefix: str) -> list[tuple[str, str]]:
    """Where the included names could stand: (prefix, what is taken off first)."""
    found: dict[tuple[str, str], int] = {}
    samples = sorted(inner, key=lambda n: (-len(n), n))[:3] + sorted(inner, key=len)[:1]
    for strip in dict.fromkeys(("", family_prefix)):
        for sample in samples:
            core = sample.removeprefix(strip)
            for name in names:
                if name == core or name.endswith("." + core):
                    option = name[: len(name) - len(core)], strip
                    found[option] = found.get(option, 0) + 1
    return sorted(found, key=lambda option: -found[option])[:6]


# --- families ---------------------------------------------------------------------------------


def derive(model_type: str, found: list[Record], raw: Mapping[str, Any], families: Mapping[str, Family]) -> Draft:
    """One type's table."""
    started = time.monotonic()
    deriver = Deriver(model_type, found, raw)
    includer = Includer(deriver, families)
    includes = includer.find()
    rows = deriver.rows(includer.skip)
    default = next((r for r in found if r.variant == "default" and r.cls == deriver.main), found[0])
    rows = [_without_empty(deriver, row) for row in rows]
    entries = (*includes, *rows)
    defaults, derived = _defaults(deriver, entries, default, raw)
    family = Family(
        name=model_type,
        types={model_type: {k: raw[k] for k in sorted(derived) if raw.get(k) is not None}},
        rows=entries,
        prefix=deriver.prefix,
        prefixes=deriver.prefixes,
        classes=deriver.classes,
        head=deriver.heads[deriver.main],
        defaults=defaults,
        derived=derived,
        fields=_aliases(default, entries, derived),
    )
    return Draft(model_type, family, deriver.missed, time.monotonic() - started)


_EMPTY_OR = re.compile(r"\b(\w+) if \1 is not None else ([^,]+)|([^,]+?) if (\w+) is None else \4(?=,|$)")


def _without_empty(deriver: Deriver, row: Row) -> Row:
    """`n_inner if n_inner is not None else 4 * n_embd` becomes the rule for an empty `n_inner`."""

    def replaced(match: re.Match[str]) -> str:
        name, rule = (match[1], match[2]) if match[1] else (match[4], match[3].strip())
        known = deriver.derived.setdefault(name, rule)
        return name if known == rule else match[0]

    shape = _EMPTY_OR.sub(replaced, row.shape)
    return replace(row, shape=shape) if shape != row.shape else row


def texts_of(row: Row | Include) -> list[str]:
    """Every expression of a row."""
    if isinstance(row, Include):
        return []
    bounds = [bound for _, bound in row.indexes]
    return [t for t in (row.shape, row.when, row.tied, row.bias, row.active, row.stacked, *bounds) if t]


def used_fields(entries: Sequence[Row | Include], derived: Mapping[str, str]) -> set[str]:
    """Fields that the expressions mention, by dotted path."""
    found: set[str] = set()
    for entry in entries:
        for text in texts_of(entry):
            found |= _paths(text)
    pending = list(found)
    while pending:
        for path in _paths(derived.get(pending.pop(), "0")) - found - {"for", "range", "layer"}:
            found.add(path)
            pending.append(path)
    return found


def _paths(text: str) -> set[str]:
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    words = re.findall(r"[A-Za-z_][\w.]*", text)
    return set(words) - set(formula.FUNCTIONS) - {"if", "else", "and", "or", "not", "in", "is", "None", "True", "False"}


def _defaults(
    deriver: Deriver, entries: Sequence[Row | Include], default: Record, raw: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Values of absent fields, and the rules for those that follow from others."""
    used = used_fields(entries, deriver.derived)
    derived = {key: rule for key, rule in deriver.derived.items() if key in used and "." not in key}
    values: dict[str, Any] = {}
    for path in sorted(used):
        if path in derived or path == "num_labels" or path not in default.fields:
            continue
        value = raw.get(path)
        if value is None and isinstance(default.fields[path], list) and "." not in path:
            rule = deriver.list_rule(path)
            if rule:
                derived[path] = rule
                continue
        value = default.fields[path] if value is None else value
        if value is not None and not isinstance(value, (int, float, str, bool, list, tuple)):
            continue
        *outer, last = path.split(".")
        here = values
        for word in outer:
            here = here.setdefault(word, {})
        here[last] = list(value) if isinstance(value, tuple) else value
    return values, derived


def _aliases(record: Record, entries: Sequence[Row | Include], derived: Mapping[str, str]) -> dict[str, str]:
    """Common field names → the type's own, as its configuration class maps them."""
    used = used_fields(entries, derived)
    own = record.attribute_map.get("", {})
    return {common: name for common, name in own.items() if name in used and common not in used}


# --- running ----------------------------------------------------------------------------------


def raw_defaults(model_type: str) -> dict[str, Any]:
    """The values that a configuration class declares, before it computes others from them."""
    import dataclasses

    from transformers import CONFIG_MAPPING

    def of(cls: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if dataclasses.is_dataclass(cls):
            for each in dataclasses.fields(cls):
                if each.default is not dataclasses.MISSING:
                    found[each.name] = each.default
                elif each.default_factory is not dataclasses.MISSING:
                    found[each.name] = each.default_factory()
        return found

    try:
        cls = CONFIG_MAPPING[model_type]
    except KeyError:
        return {}
    found = of(cls)
    for scope, inner in (getattr(cls, "sub_configs", None) or {}).items():
        found.update({f"{scope}.{key}": value for key, value in of(inner).items()})
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def work(model_type: str, truth: Path, drafts: Path, hold: str) -> None:
    """Derive one type and keep its draft."""
    found = records.of_type(truth, model_type)
    parts = {part for record in found for part in scopes_of(record.config).values()} - {model_type}
    families = load_drafts(drafts, parts)
    prediction.family_of = lambda config: families.get(str(config.get("model_type")))
    found = [r for r in found if not (hold and re.search(hold, r.variant))]
    draft = in_time(model_type, found, raw_defaults(model_type), families)
    with (drafts / f"{model_type}.pickle").open("wb") as stream:
        pickle.dump({"family": draft.family, "missed": draft.missed}, stream)
    print(
        f"{model_type}\t{draft.seconds:.1f} s\t{len(draft.family.rows)} rows\t{'; '.join(draft.missed[:4])}", flush=True
    )


class TooLongError(Exception):
    """A type whose search takes more than `LONGEST` seconds of work."""


def in_time(model_type: str, found: list[Record], raw: Mapping[str, Any], families: Mapping[str, Family]) -> Draft:
    """The draft; where the search takes too long, one of single expressions alone."""
    global BUDGET

    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGPROF, stop)
    usual = BUDGET
    for budget in (usual, -1.0):
        BUDGET, search.HASTE = budget, budget < 0
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            return derive(model_type, found, raw, families)
        except TooLongError:
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            BUDGET, search.HASTE = usual, False
    raise TooLongError(model_type)


def load_drafts(folder: Path, only: set[str] | None = None) -> dict[str, Family]:
    """The families of all drafts, or of some model types and their parts, by model type."""
    if only is None:
        return {path.stem: pickle.loads(path.read_bytes())["family"] for path in folder.glob("*.pickle")}
    found: dict[str, Family] = {}
    pending = list(only)
    while pending:
        model_type = pending.pop()
        path = folder / f"{model_type}.pickle"
        if model_type not in found and path.exists():
            found[model_type] = pickle.loads(path.read_bytes())["family"]
            pending += [row.default_type for row in found[model_type].rows if isinstance(row, Include)]
    return found


def attempt(job: tuple[str, Path, Path, str]) -> None:
    """`work`, and one line where it fails."""
    try:
        work(*job)
    except Exception:
        print(f"{job[0]}\tFAILED {traceback.format_exc()[-700:]}", flush=True)


def levels_of(truth: Path, types: Sequence[str]) -> dict[str, int]:
    """0 for a type without parts, one more than its deepest part otherwise."""
    first: dict[str, Path] = {}
    for path in sorted(truth.glob("*.json.gz")):
        first.setdefault(path.name.split("__")[0], path)
    parts = {t: set(scopes_of(records.read(first[t]).config).values()) - {t} for t in types}
    levels = dict.fromkeys(types, 0)
    for _ in range(4):
        levels = {t: max((levels.get(part, 0) + 1 for part in parts[t]), default=0) for t in types}
    return levels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--drafts", type=Path, default=Path("drafts"))
    parser.add_argument("--types", default="")
    parser.add_argument("--hold", default="", help="variants (a regular expression) that the tables are not made from")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--missing", action="store_true", help="only types without a draft")
    arguments = parser.parse_args()
    arguments.drafts.mkdir(exist_ok=True)
    chosen = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.truth)
    if arguments.missing:
        chosen = [t for t in chosen if not (arguments.drafts / f"{t}.pickle").exists()]
    recorded = set(records.types_in(arguments.truth))
    chosen = [t for t in chosen if t in recorded]
    levels = levels_of(arguments.truth, chosen)
    import transformers  # noqa: F401 - once, before the workers are forked

    for level in sorted(set(levels.values())):
        jobs = [(t, arguments.truth, arguments.drafts, arguments.hold) for t in chosen if levels[t] == level]
        with multiprocessing.get_context("fork").Pool(arguments.jobs, maxtasksperchild=8) as pool:
            for _ in pool.imap_unordered(attempt, jobs):
                pass


if __name__ == "__main__":
    main()
