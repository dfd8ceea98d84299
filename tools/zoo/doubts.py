"""Formulas that fit every record and still prove nothing.

    python -m zoo.doubts --types a,b [--truth DIR --held DIR]

A formula is doubted if a field that it names

- never had two values where the formula was used: `num_res_blocks * base_channels` of a layer seen at the defaults alone;
- changes nothing in it: `unpadded + (vocab - unpadded)`;
- is read nowhere in the code of the type's models and configuration: `num_labels <= 2` in a tokenizer of images.

So is a condition that was never seen to hold, or never to fail.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspector.architectures import formula, model_types
from inspector.architectures.expansion import expand_row
from inspector.architectures.scope import Scope
from inspector.architectures.table import Family, Row, class_suffix
from inspector.errors import ConfigError
from inspector.model import Config
from zoo import records
from zoo.records import Record, evaluated, nested, paths_of

#: What every configuration has, and code that all models share reads.
SHARED = {"tie_word_embeddings", "is_encoder_decoder", "add_cross_attention", "is_decoder", "num_hidden_layers"}
#: Modules of all models: that they read a field says nothing about one of them.
_COMMON = re.compile(
    r"transformers\.(modeling_utils|configuration_utils|generation|utils|integrations|core_model_loading)"
)
#: Drawn assignments, none of which a field without effect changes.
DRAWS = 40


def doubts(family: Family, found: Sequence[Record]) -> list[str]:
    """What speaks against a table that predicts all these records exactly."""
    scopes = [Scope(family, record.config) for record in found]
    read = Read(found)
    reasons: dict[str, None] = {}
    used: dict[str, dict[int, Scope]] = {}  # a formula of several rows is used where any of them is
    indexes: dict[str, set[str]] = {}
    for row in (entry for entry in family.rows if isinstance(entry, Row)):
        here = _places(row, found, scopes, family)
        present = [scope for scope, there in here if there]
        for text, scopes_of_text in _expressions(row, [scope for scope, _ in here], present):
            used.setdefault(text, {}).update({id(scope): scope for scope in scopes_of_text})
            indexes.setdefault(text, set()).update(dict(row.indexes))
        if row.when and here and len(present) in (0, len(here)) and not _of_index(row.when, row):
            reasons[f"`{row.when}`: never seen to {'fail' if present else 'hold'}"] = None
    for text, those in used.items():
        names = sorted(paths_of(text) - indexes[text])
        reasons |= dict.fromkeys(f"`{text}`: {why}" for why in _against(text, names, list(those.values()), read))
    return list(reasons)


def _of_index(text: str, row: Row) -> bool:
    """Whether a condition is about an index: one record shows both outcomes."""
    return bool(set(formula.names(text)) & {name for name, _ in row.indexes})


def _places(row: Row, found: Sequence[Record], scopes: Sequence[Scope], family: Family) -> list[tuple[Scope, bool]]:
    """Records whose class may have the row, with whether they have it."""
    wanted = row.heads.split()
    here = []
    for record, scope in zip(found, scopes, strict=True):
        head = Config(record.config, "config.json").architecture or record.cls
        suffix = family.classes.get(head) or class_suffix(head) or head
        if wanted and suffix not in wanted:
            continue
        try:
            here.append((scope, any(True for _ in expand_row(row, scope))))
        except ConfigError:
            continue
    return here


def _expressions(row: Row, every: list[Scope], present: list[Scope]) -> Iterator[tuple[str, list[Scope]]]:
    """A row's expressions with the records in which each is used."""
    yield from ((text, present) for text in formula.dimensions(row.shape))
    yield from ((bound, every) for _, bound in row.indexes)
    yield from ((text, every if text == row.when else present) for text in (row.when, row.bias, row.tied) if text)


def _against(text: str, names: Sequence[str], used: Sequence[Scope], read: Read) -> Iterator[str]:
    if not used:
        return
    for name in names:
        if not read.somewhere(name):
            yield f"{name} is read nowhere in the code"
        elif len(values := _values(name, used)) == 1:
            yield f"seen only where {name} is {next(iter(values))[:40]}"
    if len(names) > 1:
        yield from (f"{name} changes nothing" for name in _idle(text, names, used))


def _values(name: str, used: Iterable[Scope]) -> set[str]:
    """The values of a field, as text."""
    found = set()
    for scope in used:
        try:
            found.add(repr(formula.evaluate(name, scope)))
        except ConfigError:
            found.add("absent")
    return found


def _idle(text: str, names: Sequence[str], used: Sequence[Scope]) -> list[str]:
    """Names whose value never changes that of the expression."""
    draw = random.Random(text)
    variables = sorted(set(formula.names(text)) & {"layer", "expert", "block", "stage", "level"})
    moved = set[str]()
    points: list[dict[str, Any]] = []
    for scope in used[:DRAWS]:
        try:
            points.append({name: formula.evaluate(name, scope) for name in names})
        except ConfigError:
            continue
    if not points:
        return []
    for at in range(DRAWS * 4):
        point = points[at % len(points)]
        index = {each: draw.randrange(6) for each in variables}
        for name in names:
            before, after = _at(text, point, index), _at(text, {**point, name: _other(point[name], draw)}, index)
            if before != after:
                moved.add(name)
        if at % 2:  # jointly: all others drawn as well
            other = {name: _other(value, draw) for name, value in point.items()}
            for name in names:
                if _at(text, other, index) != _at(text, {**other, name: point[name]}, index):
                    moved.add(name)
        if len(moved) == len(names):
            break
    return [name for name in names if name not in moved]


def _at(text: str, point: Mapping[str, Any], index: Mapping[str, int]) -> Any:
    try:
        return evaluated(text, nested(point), index)
    except Exception:
        return None


def _other(value: Any, draw: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return draw.choice([None, 2, True])
    if isinstance(value, int):
        return draw.choice([value + 1, max(value - 1, 0), 2 * value, draw.randrange(1, 60), 0])
    if isinstance(value, float):
        return value * draw.choice([0.5, 2.0])
    if isinstance(value, str):
        return draw.choice(["", value + "x"])
    if isinstance(value, (list, tuple)):
        return draw.choice([[_other(each, draw) for each in value], list(value)[::-1], list(value)[:-1]])
    return None


class Read:
    """The names that the code of some classes reads."""

    def __init__(self, found: Iterable[Record]) -> None:
        self._texts: list[str] = []
        self._aliases: dict[str, set[str]] = defaultdict(set)
        self.known = False
        for model_type, name in sorted({(record.model_type, record.cls) for record in found}):
            with contextlib.suppress(Exception):  # without the library, nothing is known
                from zoo.build_models import resolve_class

                self._add(resolve_class(name, model_type))
                self.known = True
        for part in sorted({each for record in found for each in _parts(record.config_full)}):
            with contextlib.suppress(Exception):
                from transformers import CONFIG_MAPPING

                self._add_part(CONFIG_MAPPING[part])

    def _add(self, cls: type) -> None:
        """The modules of a class and of what is in its own module, and its configuration."""
        own = vars(sys.modules[cls.__module__]).values()
        beside = [each for each in own if inspect.isclass(each) or inspect.isfunction(each)]
        for module in {str(each.__module__) for each in (*cls.__mro__, *beside)}:
            if "transformers." in module and not _COMMON.match(module) and ".configuration_" not in module:
                self._texts.append(_source(sys.modules.get(module)))
        self._add_configuration(getattr(cls, "config_class", None))

    def _add_part(self, cls: Any) -> None:
        """The modules that a part's package has for models, and its configuration."""
        from zoo.build_models import modeling_modules

        self._texts += [_source(module) for module in modeling_modules(cls)]
        self._add_configuration(cls)

    def _add_configuration(self, cls: Any) -> None:
        """The methods of a configuration class, and the other names of its fields."""
        for each in getattr(cls, "__mro__", ()):
            if each.__module__.startswith("transformers.models."):
                self._texts += [_source(each) for each in vars(each).values() if inspect.isfunction(each)]
            for common, name in (getattr(each, "attribute_map", None) or {}).items():
                self._aliases[name].add(common)

    def somewhere(self, name: str) -> bool:
        """Whether any of the code has the name of the field, or another name of it."""
        *_, last = name.split(".")
        if not self.known or last in SHARED:
            return True
        words = re.compile("|".join(rf"\b{re.escape(each)}\b" for each in (last, *self._aliases[last])))
        return any(words.search(text) for text in self._texts)


def _parts(values: Mapping[str, Any]) -> Iterator[str]:
    """The types of a configuration's parts."""
    for each in values.values():
        if isinstance(each, Mapping):
            yield from [each["model_type"]] if isinstance(each.get("model_type"), str) else []
            yield from _parts(each)


def _source(found: Any) -> str:
    try:
        return inspect.getsource(found)
    except (OSError, TypeError):
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--held", type=Path)
    parser.add_argument("--types", default="")
    arguments = parser.parse_args()
    for model_type in arguments.types.split(",") if arguments.types else records.types_in(arguments.truth):
        folders = [each for each in (arguments.truth, arguments.held) if each]
        found = [record for each in folders for record in records.of_type(each, model_type)]
        family = Config({"model_type": model_type}, "config.json").family
        if family is not None and model_type in model_types():
            print(f"{model_type}\t{len(found)}\t{'; '.join(doubts(family, found))}", flush=True)


if __name__ == "__main__":
    main()
