"""The length of the families' tables, the uses of their blocks, and remaining repetitions.

    python -m zoo.check_size [--blocks] [--repeats N]

`--repeats` lists the runs of neighbouring rows, without their numbers and fields, that cost most: a block of them would
save (rows - 1) at each place, less the block itself.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.architectures.store import FOLDER, documents
from inspector.architectures.table_file import joined

#: Maximum number of rows in a run.
LONGEST = 8

#: A row within a run, without its fields.
Sign = tuple[str, ...]


def uses(value: Any) -> Iterator[str]:
    """The blocks that a document uses, with repetitions."""
    if isinstance(value, dict):
        if isinstance(value.get("use"), str):
            yield value["use"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from uses(each)


def blocks() -> Iterator[str]:
    """Each block with its file, what it is about, and how often it is used."""
    found = list(documents(FOLDER))
    used = Counter(name for *_, document in found for name in uses(document))
    for path, kind, name, block in found:
        if kind == "blocks":
            yield f"{path.stem:14} {name:32} {used[name]:4}  {block['about']}"


def runs(entries: Sequence[Any]) -> Iterator[list[Any]]:
    """Neighbouring rows and uses of blocks; those of groups are separate."""
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
            for each in re.split(r",(?![^(\[]*[)\]])", joined(text))
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
    for _, kind, _, table in documents(FOLDER):
        for entries in runs(table.get("rows", ())) if kind == "families" else ():
            for size in range(2, LONGEST + 1):
                for at in range(len(entries) - size + 1):
                    places[signs(entries[at : at + size])] += 1
    saved = {run: (len(run) - 1) * where - len(run) - 1 for run, where in places.items()}
    for best in sorted(saved, key=saved.__getitem__, reverse=True)[:number]:
        reported = " | ".join(" ".join(sign[:2]) for sign in best)
        yield f"{saved[best]} lines, {places[best]} places: {reported}"


def lines(kind: str) -> int:
    """Lines of the tables of a kind, or of all."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in FOLDER.glob(f"{kind}/*.json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", action="store_true", help="list the blocks, and how often each is used")
    parser.add_argument("--repeats", type=int, default=0, metavar="N", help="list what recurs without a block")
    arguments = parser.parse_args()
    print(f"{lines('*'):,} lines, {lines('families'):,} of families and {lines('blocks'):,} of blocks")
    print(*(blocks() if arguments.blocks else ()), *repeats(arguments.repeats), sep="\n")


if __name__ == "__main__":
    main()
