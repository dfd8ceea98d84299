"""The common properties of the records of one model type: its classes, and its fields, including derived ones."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspector.architectures import formula
from inspector.architectures.table import class_suffix
from zoo import derive_expressions as expressions
from zoo import records
from zoo.derive_conditions import Conditions
from zoo.derive_expressions import Point, Weights
from zoo.doubts import Read
from zoo.records import Numbers, Record, Shape, evaluated, nested

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

#: Seconds of work for one type, after which only single expressions are tried.
BUDGET = 15.0


@dataclass
class Pattern:
    """All tensors of one name pattern, over all records."""

    name: str
    cells: dict[int, dict[Numbers, Shape]] = field(default_factory=dict)  # record → numbers → shape


class Study:
    """One type's records, made comparable."""

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
        """Fill empty or absent fields as the model does, and find the rule for it."""
        read = Read(self.records)
        keys = [
            key for key in dict.fromkeys(k for record in self.records for k in record.fields) if read.somewhere(key)
        ]
        reported: dict[str, Counter[str]] = defaultdict(Counter)
        for record in self.records:
            for key, rule in record.trace.derived.items():
                reported[key][re.sub(r"@(\d+)", r"\1", rule)] += 1
        self.points: list[dict[str, Any]] = [dict(record.fields) for record in self.records]
        for key in keys:
            seen = [(at, fields[key]) for at, fields in enumerate(self.points) if key in fields]
            values = [value for _, value in seen if value is not None]
            if not values or len(seen) < len(self.points) or not all(map(expressions.is_whole, values)):
                continue
            computed = [at for at, value in seen if value is not None and self._not_given(at, key)]
            empty = [at for at, value in seen if value is None]
            if self._default(key) is None and computed and not self._told_rule(key, reported[key], computed):
                self._rule(key, computed, empty)
        for record in self.records:
            self.derived.update(record.trace.optional)
        given = {key for record in self.records for key in record.overrides}
        order = sorted(keys, key=lambda key: key not in given)
        self.completed = [{key: fields[key] for key in order if key in fields} for fields in self.points]
        for key, rule in self.derived.items():
            for fields in self.completed:
                if fields.get(key) is None:
                    value = evaluated(rule, nested(fields), {})
                    if value is not None:
                        fields[key] = value

    def _told_rule(self, key: str, reported: Counter[str], computed: list[int]) -> bool:
        """Use a traced rule for an empty field if it is right wherever the field was computed."""
        for rule, _ in reported.most_common():
            if all(evaluated(rule, nested(self.points[at]), {}) == self.points[at][key] for at in computed):
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
            Point({k: v for k, v in self.points[at].items() if k != key and k.rpartition(".")[0] == prefix})
            for at in computed
        ]
        rule = expressions.fit(points, target)
        if rule and not rule.isdigit():
            self.derived[key] = rule

    def list_rule(self, key: str) -> str | None:
        """The rule by which an optional list follows from other fields; None if no rule is found."""
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
        length = expressions.fit([Point(o) for o in others], tuple(map(len, lists)))
        points = [Point(o, (("layer", n),)) for o, each in zip(others, lists, strict=True) for n in range(len(each))]
        items = [item for each in lists for item in each]
        if length is None or len(points) > 3000:
            return None
        tests = Conditions(points) if len(kinds) > 1 else None
        kinds.sort(key=lambda pair: items.count(pair[1]))
        reported = ""
        for _, kind in kinds[:-1]:
            assert tests is not None
            when = tests.explain(sum(1 << at for at, item in enumerate(items) if item == kind))
            if when is None:
                return None
            reported += f"{kind!r} if {when} else "
        return f"[{reported}{kinds[-1][1]!r} for layer in range({length})]"

    def _changes(self) -> list[frozenset[str]]:
        """The fields in which each single-field record differs from its start; empty for others."""
        starts = {(record.cls, record.variant): at for at, record in enumerate(self.records)}
        found, self.base = [], list[int]()
        for at, record in enumerate(self.records):
            kind, changed, _ = record.variant.partition("_")
            start = "p1" if kind in tuple("bilfsd") else kind if kind.startswith("t") else ""
            base = starts.get((record.cls, start), at) if changed else at
            one, two = self.completed[at], self.completed[base]
            found.append(frozenset(k for k in one if one[k] != two.get(k)) if base != at else frozenset())
            self.base.append(base)
        return found

    def relevant(self, seen: Mapping[int, Any]) -> Weights:
        """The likely relevance of fields to an observation (record → value).

        0 for those whose change alone changed it, nothing for those whose change alone did not.
        """
        found: set[str] = set()
        idle: set[str] = set()
        for at, fields in enumerate(self.changed):
            if not fields:
                continue
            base = self.base[at]
            if at not in seen and base not in seen:
                continue
            if (at in seen) != (base in seen) or (at in seen and seen[at] != seen[base]):
                found |= fields
            else:
                idle |= fields
        return Weights(frozenset(found), frozenset(idle - found))

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
                    and all(expressions.is_whole(n) and 0 < n < 200 for n in fields[name])
                    for fields in self.completed
                )
            ]
        return self._universes["lists"]  # type: ignore[no-any-return]

    # --- expressions ---

    def _fits(self, text: str, points: Sequence[Point], target: Sequence[int]) -> int:
        """The points at which an expression has the observed value, one bit each."""
        mask = 0
        known: dict[Any, Any] = {}
        names = formula.names(text)
        for at, (point, value) in enumerate(zip(points, target, strict=True)):
            index = {v: n for v, n in point.index if v in names}
            key = (id(point.fields), *index.values())
            if key not in known:
                known[key] = evaluated(text, self._tree(point.fields), index)
            if known[key] == value and not isinstance(known[key], bool):
                mask |= 1 << at
        return mask

    def _tree(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Nested objects of these fields, made once."""
        if id(fields) not in self._trees:
            self._trees[id(fields)] = fields, nested(fields)
        return self._trees[id(fields)][1]

    def _fit(self, points: list[Point], target: list[int], relevant: Weights, fast: bool = False) -> str | None:
        distinct: dict[Any, tuple[Point, int]] = {}
        varies = any(point.index for point in points)
        if varies:
            by_fields: dict[int, set[int]] = defaultdict(set)
            for point, value in zip(points, target, strict=True):
                by_fields[id(point.fields)].add(value)
            varies = any(len(each) > 1 for each in by_fields.values())
        for point, value in zip(points, target, strict=True):
            key = (id(point.fields), point.index if varies else ())
            distinct.setdefault(key, (point if varies else Point(point.fields), value))
        chosen = list(distinct.values())
        fast = fast or time.process_time() > self.budget
        return expressions.fit([p for p, _ in chosen], tuple(v for _, v in chosen), relevant, fast=fast)


def _rank(auto: str) -> int:
    return AUTOS.index(auto) if auto in AUTOS else len(AUTOS) - 1


def _typical(found: list[Record]) -> Record:
    return next((r for r in found if r.variant == "p1"), found[0])
