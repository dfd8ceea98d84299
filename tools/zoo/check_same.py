"""Whether rewritten tables still mean the same.

    git worktree add BEFORE; python -m zoo.check_same BEFORE/inspector/architectures/data/tables

Compares each table of that folder with the package's: its fields, and its rows in any order. Lists the tables that
differ, with removed (-) and added (+) parts. With `--drawn N`, those may differ in their rows as long as they predict
the same tensors, with the same keys, for the configurations of their cases and N changes of each.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import cases

import inspector
from inspector.architectures import family_of, table_file
from inspector.architectures.store import FOLDER, Store, of_folder
from inspector.architectures.table import Family
from inspector.errors import InspectorError
from inspector.opening.configs import normalize

KINDS = ("families", "gguf", "projectors")


def families(home: Store) -> Iterator[tuple[tuple[str, str], Family]]:
    """Every table of a folder, with its kind and name."""
    for kind in KINDS:
        for name in home.names(kind):
            yield (kind, name), table_file.read(kind, name, home.find)


def differences(before: Family, after: Family) -> Iterator[str]:
    """The parts of the first table that the second does not have."""
    old, new = (Counter(map(str, family.rows)) for family in (before, after))
    yield from (f"- {row}" for row in (old - new).elements())
    yield from (f"+ {row}" for row in (new - old).elements())
    for field in Family._fields:
        if field != "rows" and (was := getattr(before, field)) != (now := getattr(after, field)):
            yield from (f"- {field}: {was}", f"+ {field}: {now}")


def fields_in(values: dict[str, Any], usual: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Every field of a configuration and of its parts, including defaults, with its container."""
    values.update({field: copy.deepcopy(value) for field, value in usual.items() if field not in values})
    inner = [each for each in values.values() if isinstance(each, dict)]
    return [(values, field) for field in values] + [place for each in inner for place in fields_in(each, {})]


def changed(config: Mapping[str, Any], usual: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    """A configuration with one to four fields changed or removed."""
    values = copy.deepcopy(dict(config))
    for home, field in draw.sample(places := fields_in(values, usual), min(len(places), draw.randint(1, 4))):
        value = home[field]
        if field in ("model_type", "architectures") or field not in home:
            continue
        if isinstance(value, bool):
            home[field] = not value
        elif isinstance(value, int):
            home[field] = draw.choice((value + 1, max(value - 1, 0), value * 2, 0, 1))
        elif isinstance(value, list) and value:
            home[field] = draw.choice((value[:-1], value + value[-1:], value[::-1]))
        elif draw.random() < 0.3:
            del home[field]
        elif value is None:
            home[field] = draw.choice((True, 1, 4, 16))
    return values


def tensors(config: Mapping[str, Any], branches: bool) -> Any:
    """The predicted tensors of a configuration, one by one; the error if there is none."""
    try:
        predicted = inspector.predict(config)
        return {
            (
                row.name_of(key),
                key if branches else key._replace(branch=""),
                row.shape,
                row.group,
                row.active,
                row.buffer,
                place,
            )
            for place in ("expected", "tied", "buffers", "optional", "ahead")
            for row in getattr(predicted, place)
            for key in row.keys()
        }
    except InspectorError as error:
        return str(error)


def types_in(values: Any) -> Iterator[str]:
    """The types of a configuration and of its parts."""
    if isinstance(values, Mapping):
        yield from (str(values[field]) for field in ("model_type", "_class_name") if field in values)
        for inner in values.values():
            yield from types_in(inner)


def configurations(types: AbstractSet[str], number: int) -> Iterator[dict[str, Any]]:
    """The cases with these types in them, and this many changes of each."""
    for path in sorted(cases.FOLDER.glob("*.txt")):
        draw = random.Random(path.stem)
        for case in cases.load(path):
            if types & set(types_in(case.config)):
                family = family_of(normalize(case.config).values)
                yield case.config
                yield from (changed(case.config, family.defaults if family else {}, draw) for _ in range(number))


def predicted_otherwise(before: Path, configs: Sequence[Mapping[str, Any]], branches: bool) -> Iterator[str]:
    """Types whose predictions differ from those of the old tables, with the first such tensors."""
    now = [tensors(config, branches) for config in configs]
    inspector.add_tables(before)
    found: dict[str, str] = {}
    for config, new in zip(configs, now, strict=True):
        if (old := tensors(config, branches)) != new:
            pair = [each if isinstance(each, set) else {each} for each in (old, new)]
            reported = (sorted(map(str, one - other))[:2] for one, other in (pair, pair[::-1]))
            found.setdefault(str(next(types_in(config))), "".join(f"\n  {each}" for each in reported))
    yield from (f"{model_type}: predicted otherwise{reported}" for model_type, reported in found.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="the folder of tables as it was")
    parser.add_argument("--short", action="store_true", help="the tables' names alone")
    parser.add_argument("--drawn", type=int, metavar="N", help="changes of each case of the tables that differ")
    parser.add_argument("--no-branches", action="store_true", help="branches may have other words")
    arguments = parser.parse_args()
    before, after = (dict(families(of_folder(folder))) for folder in (arguments.before, FOLDER))
    empty = Family("", {}, ())
    different = []
    for place in sorted(before.keys() | after.keys()):
        if reported := list(differences(before.get(place, empty), after.get(place, empty))):
            different.append(place)
            print("/".join(place), *([] if arguments.short else reported), sep="\n  ")
    print(f"{len(before)} tables, {len(different)} of them different")
    if arguments.drawn is None:
        return bool(different)
    types = {model_type for place in different for model_type in after.get(place, empty).types}
    configs = list(configurations(types, arguments.drawn))
    faults = list(predicted_otherwise(arguments.before, configs, not arguments.no_branches))
    print(*faults, f"{len(configs)} configurations, {len(faults)} types predicted otherwise", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
