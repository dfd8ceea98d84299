"""Roles of the tables against what models do with their tensors: which are contradicted, and which say nothing.

    python -m zoo.check_roles --truth DIR [--types a,b] [--write]

The records say of each tensor what its module is, and which map of a block is activated (`build_uses`). With `--write`
the roles that follow from use are written into the tables, wherever the table has the row itself.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import table_text

from inspector.architectures import model_types, table_file
from inspector.architectures.prediction import predict
from inspector.architectures.store import FOLDER, ONE, documents, store
from inspector.architectures.table import Row
from inspector.architectures.table_file import _Scope, filled
from inspector.errors import ConfigError
from inspector.model import Config
from zoo import records
from zoo.check import check_type, forget
from zoo.derive_uses import VAGUE, Use, contradicts, fitted


class Seen(NamedTuple):
    """A row of a prediction, with a use of its tensors."""

    model_type: str
    template: str
    role: str
    formula: str
    use: Use
    tensors: int

    @property
    def better(self) -> str:
        """The role that follows from use."""
        return fitted(self.role, self.template, self.use, self.formula)


def seen_in(record: records.Record) -> Iterator[Seen]:
    """The weights of a record."""
    try:
        predicted = predict(Config(record.config, "config.json"))
    except ConfigError:
        return
    for row in predicted.expected:
        if row.part != "weight" or row.buffer:
            continue
        names = [row.name_of(key) for key in row.keys()]
        uses = [record.uses[name] for name in names if name in record.uses]
        if uses:
            kind, cls, place = uses[0]
            use = Use(kind, cls, place if all(each[2] == place for each in uses) else "")
            yield Seen(record.model_type, row.name, row.role, ", ".join(row.formula), use, len(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--types", default="")
    parser.add_argument("--write", action="store_true", help="write the roles that follow from use into the tables")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    types = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.truth)
    found = seen_of(arguments.truth, types)
    wrong = {place: each for place, each in found.items() if contradicts(each.role, each.use, each.formula)}
    better = {place: each for place, each in found.items() if each.better != each.role}
    vague, total = Counter[str](), Counter[str]()
    for (table, _), each in found.items():
        kind = "diffusers" if table.startswith("diffusers_") else "transformers"
        total[kind] += each.tensors
        vague[kind] += each.tensors * (each.better in VAGUE)
    print(f"{len(found)} rows, {len(wrong)} contradicted, {len(better)} better by use")
    print({kind: f"{vague[kind]} of {total[kind]} tensors vague" for kind in total})
    if arguments.verbose:
        for (table, template), each in better.items():
            print(
                f"{table}\t{template}\t{each.role} → {each.better}\t{each.use.kind} {each.use.cls} {each.use.place}\t{each.formula}"
            )
    if arguments.write:
        write(found.values(), arguments.truth)


def seen_of(truth: Path, types: Iterable[str]) -> dict[tuple[str, str], Seen]:
    """Table and whole name of a row → what its tensors are used for, by the records of default configurations."""
    found: dict[tuple[str, str], Seen] = {}
    for model_type in types:
        for record in records.of_type(truth, model_type, "default"):
            for each in seen_in(record):
                found.setdefault((model_types().get(model_type, ""), each.template), each)
    return found


def write(seen: Iterable[Seen], truth: Path) -> None:
    """Write the roles that follow from use into the tables; a table that would name two tensors alike is left.

    Args:
        seen: all rows, those whose role is right as well: a row of the table is several of a prediction.
    """
    by_table: dict[str, dict[str, Seen]] = defaultdict(dict)
    for each in seen:
        by_table[model_types()[each.model_type]][each.template] = each
    for table, found in by_table.items():
        if all(each.better == each.role for each in found.values()):
            continue
        path = _file_of(table)
        before = path.read_text()
        left = rewritten(table, {name: each.better for name, each in found.items()})
        for name in sorted(name for name in left if found[name].better != found[name].role):
            print(f"{table}\t{name}\tin a block or a part: left")
        forget()
        if twice := next(filter(None, (_twice(truth, each) for each in {e.model_type for e in found.values()})), ""):
            path.write_text(before)
            forget()
            print(f"{table}\t{twice}\tleft")


def _twice(truth: Path, model_type: str) -> str:
    """The first two tensors of a type that have one key, or are read as others; "" if there are none."""
    verdicts = check_type(([truth], model_type, "default"))
    return next(
        (each.why or "read as another" for each in verdicts if not (each.unique and (each.agree or not each.exact))), ""
    )


def _file_of(table: str) -> Path:
    return next(path for path, kind, name, _ in documents(FOLDER) if (kind, name) == ("families", table))


def rewritten(table: str, roles: Mapping[str, str]) -> set[str]:
    """Write roles of rows, by their whole names, into the file of a table; the names that it has no row of its own for."""
    path = _file_of(table)
    whole = json.loads(path.read_text())
    document = whole if ONE & whole.keys() else whole[table]
    words = dict(_words(table))
    scope = _Scope(words, document.get("blocks", {}), store().find)
    lists = [document.get("rows", [])]
    lists += [entries for field in ("after", "instead") for entries in document.get(field, {}).values()]
    done: dict[int, tuple[list[Any], list[str]]] = {}
    found: set[str] = set()

    def better(row: Row) -> str:
        """The role of all the names that are its own; of several roles, its own."""
        own = _NUMBERS.sub(lambda match: rf"(?:\d+|{match[0]})", re.escape(row.template))
        names = [name for name in roles if re.fullmatch(own, name)]
        found.update(names)
        wanted = {roles[name] for name in names}
        return wanted.pop() if len(wanted) == 1 else row.role

    for entry, rows in (each for entries in lists for each in _places(entries, scope, {}, "")):
        new = [better(row) for row in rows]
        if new != [row.role for row in rows]:
            done[id(entry)] = entry, new
    for entry, new in done.values():
        entry[0] = new[0] if len(set(new)) == 1 else f"({'|'.join(new)})"
    if done:
        path.write_text(table_text.layout(whole))
    return roles.keys() - found


#: A number that a row's name counts, in a pattern: a prediction's name has it, or the number.
_NUMBERS = re.compile(r"\\\{\w+\\\}")


def _words(table: str) -> Mapping[str, str]:
    return table_file._table("families", table, store().find, ()).words


def _places(entries: Any, scope: _Scope, columns: Mapping[str, Any], at: str) -> Iterator[tuple[list[Any], list[Row]]]:
    """Each entry of the table's own, with its rows but a batch norm's statistics."""
    for entry in entries:
        if isinstance(entry, list):
            rows = [row for row in table_file._rows(entry, scope.words, columns, at) if not row.buffer]
            yield entry, rows
        elif isinstance(entry, dict) and "scope" not in entry:
            for turn in table_file._turns(entry.get("each", {}), scope):
                common = {**columns, **filled(entry.get("columns", {}), turn.words)}
                if "use" in entry:
                    yield from _places(entry.get("rows", ()), turn, columns, at)
                else:
                    yield from _places(
                        entry["rows"], turn, common, at + table_file._with_words(entry.get("at", ""), turn.words)
                    )


if __name__ == "__main__":
    main()
