"""How long the tables of families are, what their blocks are used for, and what they still repeat.

    python tools/zoo/size.py [--since REVISION] [--blocks] [--repeats N]

With `--since` the lines of those tables are counted that have a model type which had a table in that revision, Python
modules of tables included. `--repeats` lists the runs of neighbouring rows, their numbers and fields left out, that cost
most: what a block of them would save is (rows - 1) for each place, less the block itself.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
TABLES = ROOT / "inspector/architectures/data/tables"
#: Rows of the longest runs that are looked at.
LONGEST = 8

#: What prints the types of a revision that had modules of tables: families of one type or of several.
_TYPES_OF_MODULES = """
import importlib, json, pkgutil
from inspector.architectures import families
found = set()
for module in pkgutil.iter_modules(families.__path__):
    for value in vars(importlib.import_module(f"{families.__name__}.{module.name}")).values():
        if not isinstance(value, type) and hasattr(value, "types") and hasattr(value, "rows"):
            found |= set(value.types)
print(json.dumps(sorted(found)))
"""

Document = dict[str, Any]
#: What one row says of a run, fields left out.
Sign = tuple[str, ...]


def tables_in(document: Document) -> dict[str, Document]:
    """The tables of a file: itself, or each under its name."""
    return {"": document} if {"types", "rows", "like", "part"} & document.keys() else document


def documents(folder: Path) -> Iterator[tuple[Path, dict[str, Document]]]:
    for path in sorted(folder.glob("*.json")):
        yield path, tables_in(json.loads(path.read_text(encoding="utf-8")))


def types_since(revision: str) -> set[str]:
    """The model types that had tables in a revision."""
    archive = subprocess.run(["git", "-C", ROOT, "archive", revision], check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
        files = [path for path in Path(folder).glob("inspector/**/*.json") if "tables" in path.parts]
        found = {each for path in files for each in _types(json.loads(path.read_text(encoding="utf-8")))}
        if list(Path(folder).glob("inspector/architectures/families/*.py")):
            modules = [sys.executable, "-c", _TYPES_OF_MODULES]
            environment = {**os.environ, "PYTHONPATH": folder}
            told = subprocess.run(modules, cwd=folder, env=environment, check=True, capture_output=True).stdout
            found |= set(json.loads(told))
    return found


def _types(document: Document) -> set[str]:
    tables = (table for table in tables_in(document).values() if isinstance(table, dict))
    return {model_type for table in tables for model_type in table.get("types", {})}


def uses(value: Any) -> Iterator[str]:
    """The blocks that a document uses, each as often as it does."""
    if isinstance(value, dict):
        if isinstance(value.get("use"), str):
            yield value["use"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from uses(each)


def blocks() -> Iterator[str]:
    """Each block with its file, what it is about, and how often it is used."""
    every = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(TABLES.glob("*/*.json"))]
    used = [name for document in every for name in uses(document)]
    for path, found in documents(TABLES / "blocks"):
        yield from (f"{path.stem:14} {name:32} {used.count(name):4}  {b['about']}" for name, b in found.items())


def runs(entries: Sequence[Any]) -> Iterator[list[Any]]:
    """Neighbouring rows and blocks' uses, those of groups apart."""
    run: list[Any] = []
    for entry in entries:
        if isinstance(entry, list) or ("use" in entry and "rows" not in entry):
            run.append(entry)
            continue
        yield run
        run = []
        yield from runs(entry.get("rows", ()))
    yield run


def signs(run: Sequence[Any]) -> tuple[Sign, ...]:
    """A run without its common beginning of names, each field as a number in the order of their first use."""
    names = [entry[1] if isinstance(entry, list) else entry.get("at", "") for entry in run]
    first, *others = (name.split(".")[:-1] for name in names)
    common = next(
        (at for at in range(len(first)) if any(each[at : at + 1] != [first[at]] for each in others)), len(first)
    )
    start = "".join(f"{word}." for word in first[:common])
    numbers: dict[str, str] = {}
    return tuple(_sign(entry, name.removeprefix(start), numbers) for entry, name in zip(run, names, strict=True))


def _sign(entry: Any, name: str, numbers: dict[str, str]) -> Sign:
    def numbered(text: str) -> str:
        return ",".join(
            each if each.strip().isdigit() else numbers.setdefault(each.strip(), f"${len(numbers)}")
            for each in re.split(r",(?![^(\[]*[)\]])", text)
        )

    if isinstance(entry, dict):
        return (
            "use",
            entry["use"],
            name,
            *(f"{word}={numbered(text)}" for word, text in entry.get("with", {}).items()),
        )
    own: Mapping[str, Any] = entry[3] if len(entry) > 3 else {}
    return (entry[0], name, numbered(entry[2]), *(f"{column}={own[column]}" for column in sorted(own)))


def repeats(number: int) -> Iterator[str]:
    """The runs whose blocks would save most lines."""
    places: Counter[tuple[Sign, ...]] = Counter()
    for _, found in documents(TABLES / "families"):
        for entries in (each for table in found.values() for each in runs(table.get("rows", ()))):
            for size in range(2, LONGEST + 1):
                for at in range(len(entries) - size + 1):
                    places[signs(entries[at : at + size])] += 1
    saved = {run: (len(run) - 1) * where - len(run) - 1 for run, where in places.items()}
    for best in sorted(saved, key=saved.__getitem__, reverse=True)[:number]:
        told = " | ".join(" ".join(sign[:2]) for sign in best)
        yield f"{saved[best]} lines, {places[best]} places: {told}"


def counted(types: AbstractSet[str] | None) -> str:
    """Lines of the tables, or of those that have one of some types."""
    found = [
        (path.read_text(encoding="utf-8").count("\n"), {t for table in tables.values() for t in table.get("types", {})})
        for path, tables in documents(TABLES / "families")
    ]
    chosen = [(lines, own) for lines, own in found if types is None or own & types]
    number = len({model_type for _, own in chosen for model_type in own})
    return f"{sum(lines for lines, _ in chosen):,} lines in {len(chosen)} files, for {number} model types"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", metavar="REVISION", help="count the tables of the types that it had")
    parser.add_argument("--blocks", action="store_true", help="list the blocks, and how often each is used")
    parser.add_argument("--repeats", type=int, default=0, metavar="N", help="list what recurs without a block")
    arguments = parser.parse_args()
    print(f"families: {counted(None)}")
    if arguments.since:
        types = types_since(arguments.since)
        print(f"of the {len(types)} types of {arguments.since}: {counted(types)}")
    shared = sum(path.read_text(encoding="utf-8").count("\n") for path in TABLES.glob("blocks/*.json"))
    print(f"blocks of all tables: {shared:,} lines")
    print(*(blocks() if arguments.blocks else ()), *repeats(arguments.repeats), sep="\n")


if __name__ == "__main__":
    main()
