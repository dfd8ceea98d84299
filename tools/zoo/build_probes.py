"""More records, made to contradict a table: each field changed alone from the defaults, at the numbers that formulas compare.

    python -m zoo.build_probes --out DIR --types a,b [--drafts DIR]
    python -m zoo.build_probes --types a,b            # compares tables with what is built, and keeps nothing

Drawn values are far from the defaults: what a model has at its defaults alone (an attention at one resolution) is seen in
one record, and every formula with that one value fits it. From the defaults, and from each change of one field that
brings tensors of other names, every field is changed alone: a whole number to others on both sides of each number that
the table compares it with, a list in its items and in its length. A change that leaves the model alone is a record as
well: a condition on a field that the model does not look at (`num_labels <= 2`) fails there.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import itertools
import os
import re
import resource
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from inspector.architectures import family_of
from inspector.model import Config
from zoo import records
from zoo.build import MEMORY_LIMIT, content, parallel, record
from zoo.build_configurations import Overrides, Path_, construct, is_int, walk
from zoo.build_models import Unbuildable, auto_classes, exported_classes, resolve_class, saved_tensors
from zoo.build_templates import template_for
from zoo.build_values import LAYERS, NOT_STRUCTURAL, Perturber, alternatives
from zoo.check import check, use_drafts
from zoo.derive_drafts import load_drafts, texts_of, used_fields

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from inspector.architectures.table import Family

#: Starts from which fields are changed: the defaults, and changes of one field that bring other tensors.
MOST_STARTS = 5
#: A default model that takes longer to build, in seconds, has its layers cut.
SLOW = 0.3
#: Layers of a model that is cut.
FEW_LAYERS = (7, 5, 6, 4, 8, 3)

#: Lists with an item for each axis, whose length is no choice.
_OF_AXES = re.compile(r"image|patch|crop|window|kernel|stride|grid|mean|std")


class Probe(NamedTuple):
    """One configuration, as it was built."""

    variant: str
    change: str
    model: PreTrainedModel
    overrides: Overrides


def compared_with(family: Family | None) -> dict[str, set[int]]:
    """Field → the whole numbers that conditions of the table compare it with."""
    found: dict[str, set[int]] = {}
    texts = [text for entry in family.rows for text in texts_of(entry)] if family else []
    for text in texts:
        with contextlib.suppress(SyntaxError):
            for node in ast.walk(ast.parse(f"({text},)")):
                if isinstance(node, ast.Compare):
                    sides = [node.left, *node.comparators]
                    numbers = {s.value for s in sides if isinstance(s, ast.Constant) and type(s.value) is int}
                    for each in sides:
                        if numbers and isinstance(each, ast.Name | ast.Attribute):
                            found.setdefault(ast.unparse(each), set()).update(numbers)
    return found


class Prober:
    """The probes of one class."""

    def __init__(self, cls: type[PreTrainedModel], template: Any, family: Family | None, seconds: float) -> None:
        self.perturber = Perturber(cls, template, time.process_time() + seconds)
        self.cls, self.template = cls, template
        self.named = used_fields(family.rows, family.derived) if family else set[str]()
        self.named |= {own for common, own in family.fields.items() if common in self.named} if family else set()
        self.numbers = compared_with(family)

    def start(self) -> Overrides:
        """The defaults, with fewer layers if they take long."""
        began = time.process_time()
        with contextlib.suppress(Unbuildable):
            saved_tensors(self.perturber.builds({}) or self._stop())
        if time.process_time() - began < SLOW:
            return {}
        counts = iter(FEW_LAYERS * 4)
        layers = [
            (path, [next(counts), 2])
            for path, value, _, _ in walk(self.template)
            if is_int(value) and value > max(FEW_LAYERS) and LAYERS.search(path[-1])
        ]
        cut = {path: values[0] for path, values in layers}
        both = cut | self.perturber.cut_lists(cut, FEW_LAYERS[0])
        return both if self.perturber.builds(both) is not None else self.perturber.grow({}, layers)

    @staticmethod
    def _stop() -> PreTrainedModel:
        raise Unbuildable("the defaults do not build")

    def probes(self) -> Iterator[Probe]:
        """All that build until the time is over."""
        starts = [self.start()]
        patterns = set[str]()
        with contextlib.suppress(TimeoutError):
            for number, start in enumerate(starts):  # grows while it is gone through
                model = self.perturber.builds(start)
                if model is None:
                    continue
                if number == 0:
                    patterns = patterns_of(model)
                yield Probe(f"t{number}", "", model, start)
                changes = self._changes(start, everything=number == 0)
                for at, (label, path, value, overrides) in enumerate(changes):
                    model = self.perturber.builds(overrides)
                    if model is None:
                        continue
                    yield Probe(f"t{number}_{label}.{at}", f"{'.'.join(path)} -> {value}", model, overrides)
                    new = patterns_of(model) - patterns
                    if new and number == 0 and len(starts) < MOST_STARTS:
                        patterns |= new
                        starts.append(overrides)

    def _changes(self, start: Overrides, *, everything: bool) -> Iterator[tuple[str, Path_, Any, Overrides]]:
        """Each field's other values, those of fields that the table names first."""
        config = construct(self.template, start)
        fields = [each for each in walk(config) if not _odd(each[0], each[1])]
        fields.append((("num_labels",), config.num_labels, "", type(config)))
        fields.sort(key=lambda each: ".".join(each[0]) not in self.named)
        for path, value, annotation, owner in fields:
            name = ".".join(path)
            if not everything and name not in self.named:
                continue
            for other in self._values(path, value, annotation, owner):
                yield name, path, other, start | {path: other}
        lists = [
            (path, list(value))
            for path, value, _, _ in fields
            if isinstance(value, (list, tuple)) and value and not _OF_AXES.search(path[-1])
        ]
        for length in {len(value) for _, value in lists}:
            together = [(path, value) for path, value in lists if len(value) == length]
            for label, changed in (
                ("longer", [(path, [*value, value[-1]]) for path, value in together]),
                ("shorter", [(path, value[:-1]) for path, value in together]),
            ):
                if len(together) > 1 and all(value for _, value in changed):
                    yield f"lists{length}", ("lists",), label, start | dict(changed)

    def _values(self, path: Path_, value: Any, annotation: str, owner: type) -> list[Any]:
        """Other values of a field."""
        found: list[Any] = []
        for _, values, _ in alternatives(path, value, annotation, owner, self.cls):
            found += values
        if is_int(value):
            around = self.numbers.get(".".join(path), set())
            found = [n + by for n in sorted(around) for by in (-1, 0, 1) if n + by >= 0] + found[:3]
        elif isinstance(value, (list, tuple)) and value and not _OF_AXES.search(path[-1]):
            found += [[*value, value[-1]], list(value[:-1]), list(value)[::-1]]
        return [each for at, each in enumerate(found) if each != value and each not in found[:at]]


def _odd(path: Path_, value: Any) -> bool:
    """Whether a field shapes no tensor, whatever its value."""
    return bool(NOT_STRUCTURAL.search(path[-1])) or isinstance(value, dict)


def patterns_of(model: PreTrainedModel) -> set[str]:
    """The names of a model's tensors, without their numbers."""
    return {records.pattern_of(name)[0] for name in model.state_dict()}


def ready(model_type: str) -> Iterator[tuple[str, str, type[PreTrainedModel], Any, str]]:
    """Classes of a type that build: one for each class of configurations, with its mapping, template and note."""
    seen = set[type]()
    for name, (auto, _) in (auto_classes(model_type) or exported_classes(model_type)).items():
        with contextlib.suppress(Exception):
            cls = resolve_class(name, model_type)
            template, note = template_for(model_type, cls)
            if type(template) not in seen and (
                template.model_type == model_type or not auto_classes(template.model_type)
            ):
                seen.add(type(template))
                yield name, auto, cls, template, note


def probed(model_type: str, family: Family | None, seconds: float) -> Iterator[tuple[str, str, Probe]]:
    """Each probe of a type with its mapping and note."""
    classes = list(ready(model_type))
    for _, auto, cls, template, note in classes:
        for probe in Prober(cls, template, family, seconds / len(classes)).probes():
            yield auto, note, probe


def written(model_type: str, out: Path, family: Family | None, seconds: float) -> int:
    """The probes of a type as records."""
    made = 0
    for auto, note, probe in probed(model_type, family, seconds):
        with contextlib.suppress(Exception):
            note_ = "; ".join(filter(None, (note, probe.change)))
            record(out, model_type, auto, probe.variant, probe.model, note_, probe.overrides)
            made += 1
    return made


def contradicted(model_type: str, seconds: float) -> tuple[int, list[str]]:
    """How many probes of a type were built, and what of its table differs from them."""
    number, found = 0, list[str]()
    for auto, note, probe in probed(model_type, Config({"model_type": model_type}, "config.json").family, seconds):
        with contextlib.suppress(Exception):
            raw = content(model_type, auto, probe.variant, probe.model, note, probe.overrides)
            verdict = check(records.of_content(raw))
            number += 1
            if not verdict.exact:
                found.append(f"{verdict.cls} {probe.variant}: {verdict.why}")
    return number, found


def in_process(model_type: str, out: Path | None, drafts: Mapping[str, Family], seconds: float) -> None:
    """One type, in a process of its own; its line is printed at once."""
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    warnings.simplefilter("ignore")
    began = time.process_time()
    if out is not None:
        line = f"{written(model_type, out, drafts.get(model_type) or family_of({'model_type': model_type}), seconds)}"
    else:
        number, found = contradicted(model_type, seconds)
        first = "; ".join(itertools.islice(found, 2))
        line = f"{number}\t{len(found)}\t{first}"
    print(f"{model_type}\t{line}\t{time.process_time() - began:.0f} s", flush=True)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--types", default="")
    parser.add_argument("--drafts", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=40.0, help="of work for a type")
    arguments = parser.parse_args()
    drafts = load_drafts(arguments.drafts) if arguments.drafts else {}
    if arguments.drafts:
        use_drafts(arguments.drafts)
    types = [t for t in arguments.types.split(",") if t]
    jobs = {t: (t, arguments.out, drafts, arguments.seconds) for t in types}
    for late in parallel(in_process, jobs, arguments.jobs, arguments.seconds):
        print(f"{late}\tkilled")


if __name__ == "__main__":
    main()
