"""Every record against the tables: names and shapes predicted, tensors named, keys unique.

    python -m zoo.check --truth DIR [--held DIR] [--types a,b] [--drafts DIR] [--verbose] [--write]

With `--write` the results become files: each table's coverage, and fixtures for tests without torch.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cases
import table_text

from inspector.architectures import family_of, model_types, naming, prediction
from inspector.architectures.prediction import predict
from inspector.architectures.store import FOLDER, ONE, store
from inspector.architectures.table import Include
from inspector.errors import ConfigError
from inspector.model import Config
from zoo import records
from zoo.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Verdict:
    """The result of one record."""

    model_type: str
    cls: str
    variant: str
    exact: bool
    keyed: int  # tensors with a role
    tensors: int
    unique: bool  # no two tensors with the same key
    agree: bool  # names that map back to the keys under which they were predicted
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
    """Missing, additional and differently shaped tensors, the first of each."""
    missing = [n for n in real if n not in predicted]
    extra = [n for n in predicted if n not in real]
    other = [n for n in real if n in predicted and predicted[n] != real[n]]
    reported = []
    if missing:
        reported.append(f"{len(missing)} not predicted: {missing[0]}")
    if extra:
        reported.append(f"{len(extra)} not there: {extra[0]}")
    if other:
        reported.append(f"{len(other)} other shapes: {other[0]} {predicted[other[0]]} for {real[other[0]]}")
    return "; ".join(reported)


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


def forget() -> None:
    """What was read of tables, so that they are read again."""
    import inspector.architectures as package

    store.cache_clear()
    for cached in (package.load, package._read, package._table_under_name):
        cached.cache_clear()


def use_drafts(folder: Path) -> None:
    """Use families from drafts instead of the package's."""
    from zoo.derive_drafts import load_drafts, look_up_in
    from zoo.derive_roles import compacted, name_roles

    shorter = {t: f._replace(rows=tuple(compacted(f.rows))) for t, f in load_drafts(folder).items()}
    families = name_roles(shorter)
    look_up_in(families)


KINDS = ("default", "p1", "p2", "p3", "drawn", "single")


def kind_of(variant: str) -> str:
    """The kind of a record: the default, a base, random, or one field changed."""
    return variant if variant in KINDS else "drawn" if re.fullmatch(r"h\d+", variant) else "single"


# --- results as files ------------------------------------------------------------------


def coverage(table: Mapping[str, list[Verdict]]) -> None:
    """The share of records that are exact, at the default and changed, and of tensors that have a role.

    Model types that were not checked keep their line.
    """
    lines: dict[str, tuple[int | None, ...]] = {}
    for model_type, verdicts in sorted(table.items()):
        default = [v for v in verdicts if v.variant == "default"]
        drawn = [v for v in verdicts if _DRAWN.fullmatch(v.variant)]
        changed = [v for v in verdicts if v.variant != "default" and v not in drawn]
        keyed = sum(v.keyed for v in verdicts), sum(v.tensors for v in verdicts)
        lines[model_type] = (_percent(keyed), *(_percent(_exact(some)) for some in (default, changed, drawn)))
    for path in sorted(FOLDER.glob("families/*.json")):
        _cover(path, lines)


def _cover(path: Path, lines: Mapping[str, tuple[int | None, ...]]) -> None:
    """Write into a file which types of its tables are not fully covered, and which Transformers does not have."""
    before = json.loads(path.read_text())
    tables = {"": before} if ONE & before.keys() else before
    after = {name: _covered(table, lines) for name, table in tables.items()}
    if after != tables:
        path.write_text(table_text.layout(after.get("", after)))


def _covered(table: Mapping[str, Any], lines: Mapping[str, tuple[int | None, ...]]) -> dict[str, Any]:
    partly = {t: each for t, each in table.get("coverage", {}).items() if t not in lines}
    partly |= {t: list(lines[t]) for t in table["types"] if t in lines and lines[t] != (100,) * 4}
    outside = {t: number for t, number in dict(table.get("outside", {})).items() if t not in lines}
    if outside != table.get("outside", {}):
        table = table_text.with_field(table, "outside", outside)
    return dict(table) if partly == table.get("coverage", {}) else table_text.with_field(table, "coverage", partly)


def _exact(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    found = list(verdicts)
    return sum(v.exact for v in found), len(found)


def _percent(pair: tuple[int, int]) -> int | None:
    return 100 * pair[0] // pair[1] if pair[1] else None


#: Records of a type that tests use, the first that are exact.
_WANTED = ("default", "p2", "p3", "x3", "x2", "h1", "h2")
#: Variants of `build.py --seed`.
_DRAWN = re.compile(r"h\d")
#: Further cases of a type are kept if they are no longer than this, in characters.
_SHORT = 6000
#: A default model of more tensors than this is left to `check.py`.
_MOST_TENSORS = 1500


def fixtures(truths: Iterable[Path], table: Mapping[str, list[Verdict]]) -> None:
    """The tensors of models: a few configurations of each type, with names and shapes."""
    for model_type, verdicts in sorted(table.items()):
        found = [_case(truths, verdict) for verdict in _chosen(verdicts)]
        _write_cases(model_type, [case for at, case in enumerate(found) if not at or len(cases.text(case)) < _SHORT])


def _chosen(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """One exact verdict of each wanted variant, the smallest first."""
    chosen: dict[str, Verdict] = {}
    for verdict in verdicts:
        kind = verdict.variant.split("_")[0]
        small = verdict.tensors <= _MOST_TENSORS
        if verdict.exact and verdict.agree and verdict.unique and small and kind in _WANTED:
            chosen.setdefault(kind, verdict)
    return sorted(chosen.values(), key=lambda verdict: verdict.tensors)


def _case(truths: Iterable[Path], verdict: Verdict) -> cases.Case:
    name = f"{verdict.model_type}__{verdict.cls}__{verdict.variant}.json.gz"
    record = records.read(next(truth / name for truth in truths if (truth / name).exists()))
    config = pruned(record.config)
    config = config if _suffices(config, record.shapes) else record.config
    return cases.Case(f"Transformers, {verdict.cls}", config, dict(record.shapes))


def _write_cases(model_type: str, found: list[cases.Case]) -> None:
    """Replace the cases of a type in the file of its table."""
    path = cases.FOLDER / f"{model_types()[model_type]}.txt"
    others = [
        case for case in (cases.load(path) if path.exists() else []) if case.config.get("model_type") != model_type
    ]
    path.write_text("\n".join(map(cases.text, [*others, *found])))


def _suffices(config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a pruned configuration still predicts the same."""
    try:
        prediction = predict(Config(config, "config.json"))
    except ConfigError:
        return False
    return {row.name_of(key): row.shape for row in prediction.expected for key in row.keys()} == shapes


def pruned(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in some expression of the family, and those that distinguish families."""
    family = family_of(config)
    named = repr([family.rows, family.derived, family.fields]) if family else ""
    scopes = {row.scope for row in family.rows if isinstance(row, Include)} if family else set()
    always = {"model_type", "architectures", "per_layer_config", *scopes}
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key == "id2label":
            kept[key] = {str(n): "" for n in range(len(value))} if value and "num_labels" in named else value
        elif isinstance(value, Mapping) and "model_type" in value and key in scopes:
            kept[key] = pruned(value)
        elif key in always or key in named:
            kept[key] = value
    if "num_labels" not in named:
        kept.pop("id2label", None)
    return kept


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
        coverage(table)
        fixtures(truths, table)


def summarize(table: Mapping[str, list[Verdict]]) -> None:
    """The number of correct types, by kind of record."""
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
    """The failures of a type, one line for each kind."""
    bad = [v for v in verdicts if not (v.exact and v.agree and v.unique and v.keyed == v.tensors)]
    for v in bad if verbose else bad[:1]:
        print(f"{v.model_type} {v.cls} {v.variant} ({len(bad)}/{len(verdicts)}): {v.why}")


if __name__ == "__main__":
    main()
