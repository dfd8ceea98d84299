"""Every record against the tables: names and shapes predicted, tensors named, keys unique.

python tools/zoo/check.py --truth DIR [--held DIR] [--types a,b] [--drafts DIR] [--verbose]
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent.parent / "fixtures"))
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from typing import TYPE_CHECKING

import records
import write_down
from records import Record

from inspector.architectures import naming, prediction
from inspector.errors import ConfigError
from inspector.model import Config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass
class Verdict:
    """How one record came out."""

    model_type: str
    cls: str
    variant: str
    exact: bool
    keyed: int  # tensors with a role
    tensors: int
    unique: bool  # no two tensors with the same key
    agree: bool  # names read back as the keys that they were predicted under
    why: str = ""


def check(record: Record) -> Verdict:
    """One record."""
    config = Config(record.config, "config.json")
    family = config.family
    names = list(record.shapes)
    named = naming.Namer(family, record.config).name(names)
    keys = named.keys()
    keyed = sum(1 for slot in named.slots if slot.role)
    verdict = Verdict(
        record.model_type, record.cls, record.variant, False, keyed, len(names), len(set(keys)) == len(keys), False
    )
    try:
        predicted = prediction.predict(config)
    except ConfigError as error:
        verdict.why = str(error)
        return verdict
    every = [(row.name_of(key), (key, row.shape)) for row in predicted.expected for key in row.keys()]
    pairs = dict(every)
    shapes = {name: shape for name, (_, shape) in pairs.items()}
    verdict.exact = shapes == record.shapes and len(pairs) == len(every)
    own = dict(zip(names, keys, strict=True))
    verdict.agree = all(own[name] == key for name, (key, _) in pairs.items() if name in own)
    if len(pairs) < len(every):
        verdict.why = f"predicted twice: {next(name for name in pairs if [each for each, _ in every].count(name) > 1)}"
    elif not verdict.exact:
        verdict.why = difference(shapes, record.shapes)
    elif not verdict.agree:
        verdict.why = "key " + next(n for n, (k, _) in pairs.items() if own.get(n) != k)
    elif not verdict.unique:
        seen: dict[object, str] = {}
        for name, key in own.items():
            if key in seen:
                verdict.why = f"same key: {name} {seen[key]}"
            seen[key] = name
    return verdict


def difference(predicted: dict[str, tuple[int, ...]], real: dict[str, tuple[int, ...]]) -> str:
    """What is missing, too much, or of another shape, the first of each."""
    missing = [n for n in real if n not in predicted]
    extra = [n for n in predicted if n not in real]
    other = [n for n in real if n in predicted and predicted[n] != real[n]]
    told = []
    if missing:
        told.append(f"{len(missing)} not predicted: {missing[0]}")
    if extra:
        told.append(f"{len(extra)} not there: {extra[0]}")
    if other:
        told.append(f"{len(other)} other shapes: {other[0]} {predicted[other[0]]} for {real[other[0]]}")
    return "; ".join(told)


def check_type(job: tuple[Sequence[Path], str, str]) -> list[Verdict]:
    """All records of a type, or those of some variants."""
    truths, model_type, variants = job
    verdicts = []
    for record in (each for truth in truths for each in records.of_type(truth, model_type, variants)):
        try:
            verdicts.append(check(record))
        except Exception as error:
            verdicts.append(
                Verdict(record.model_type, record.cls, record.variant, False, 0, 1, False, False, repr(error))
            )
    return verdicts


def use_drafts(folder: Path) -> None:
    """Look families up in drafts instead of in the package."""
    from compact import compacted
    from drafts import load_drafts, look_up_in
    from roles import name_roles

    shorter = {t: f._replace(rows=tuple(compacted(f.rows))) for t, f in load_drafts(folder).items()}
    families = name_roles(shorter)
    look_up_in(families)


KINDS = ("default", "p1", "p2", "p3", "drawn", "single")


def kind_of(variant: str) -> str:
    """How a record counts: at the default, at a base, drawn, or changed in one field."""
    return variant if variant in KINDS else "drawn" if re.fullmatch(r"h\d+", variant) else "single"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--held", type=Path, help="records of `build.py --seed` to check as well")
    parser.add_argument("--drafts", type=Path, help="check drafts instead of the package's tables")
    parser.add_argument("--types", default="")
    parser.add_argument("--variants", default="", help="only variants whose beginning matches")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--write", action="store_true", help="write coverage and fixtures/zoo")
    arguments = parser.parse_args()
    if arguments.drafts:
        use_drafts(arguments.drafts)
    types = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.truth)
    truths = [path for path in (arguments.truth, arguments.held) if path]
    table: dict[str, list[Verdict]] = {}
    with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
        for verdicts in pool.imap(check_type, [(truths, t, arguments.variants) for t in types], chunksize=4):
            if verdicts:
                table[verdicts[0].model_type] = verdicts
                report(verdicts, arguments.verbose)
    summarize(table)
    if arguments.write:
        write_down.coverage(table)
        write_down.fixtures(truths, table)


def summarize(table: Mapping[str, list[Verdict]]) -> None:
    """How many types are right, by kind of record."""
    for kind in KINDS:
        kinds = {t: [v for v in vs if kind_of(v.variant) == kind] for t, vs in table.items()}
        kinds = {t: vs for t, vs in kinds.items() if vs}
        exact = sum(all(v.exact for v in vs) for vs in kinds.values())
        right = sum(v.exact for vs in kinds.values() for v in vs)
        keyed = sum(all(v.keyed == v.tensors for v in vs) for vs in kinds.values())
        good = sum(all(v.unique and (v.agree or not v.exact) for v in vs) for vs in kinds.values())
        number = sum(map(len, kinds.values()))
        print(f"{kind:8} types exact {exact}/{len(kinds)}  records {right}/{number}  keyed {keyed}  unique {good}")


def report(verdicts: list[Verdict], verbose: bool) -> None:
    """The failures of a type, one line each kind."""
    bad = [v for v in verdicts if not (v.exact and v.agree and v.unique and v.keyed == v.tensors)]
    for v in bad if verbose else bad[:1]:
        print(f"{v.model_type} {v.cls} {v.variant} ({len(bad)}/{len(verdicts)}): {v.why}")


if __name__ == "__main__":
    main()
