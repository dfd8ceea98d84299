"""Proven drafts become tables: exact over every record, at the class's own defaults too, with a cache that was measured.

    python -m zoo.adopt --work DIR [--types a,b]

DIR has `truth`, `held` (configurations that deriving never saw), `drafts` and `failures.tsv`. A type is adopted if all
its classes were built, and each record is predicted exactly, each name mapped back, no key twice. What is not adopted
is left for a hand, with the reason.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import table_text
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from inspector.architectures import model_types
from inspector.architectures.caches import kept, of_engine
from inspector.architectures.prediction import predict
from inspector.architectures.store import store
from inspector.architectures.table import Family, Include
from inspector.errors import ConfigError
from inspector.model import Config
from zoo import records
from zoo.build_models import auto_classes
from zoo.check import Verdict, check_type, difference, forget, use_drafts
from zoo.derive_drafts import load_drafts
from zoo.derive_roles import compacted, name_roles
from zoo.doubts import doubts
from zoo.records import flatten, nested
from zoo.write import TABLES, about, merged, module_name, source

#: Records of configurations that deriving never saw, which a type needs at least.
FEWEST_HELD = 1


class Proof(NamedTuple):
    """What speaks for or against a draft."""

    model_type: str
    records: int
    exact: int
    drawn: int
    drawn_exact: int
    probes: int
    probes_exact: int
    against: str  # why it is left for a hand; "" if it is adopted


def proof(model_type: str, work: Path, unbuilt: Mapping[str, str]) -> Proof:
    """All records of a type against its draft."""
    verdicts = check_type(([work / "truth", work / "held"], model_type, ""))
    drawn = [each for each in verdicts if each.variant.startswith("h") and each.variant[1:].isdigit()]
    probes = [each for each in verdicts if each.variant.startswith("t")]
    exact = [sum(map(_sound, some)) for some in (verdicts, drawn, probes)]
    wrong = next((each for each in verdicts if not _sound(each)), None)
    against = unbuilt.get(model_type, "")
    if wrong:
        against = f"{wrong.cls} {wrong.variant}: {wrong.why}"
    elif not verdicts:
        against = against or "no class could be built"
    elif len(drawn) < FEWEST_HELD:
        against = against or "no drawn configuration could be built"
    else:
        against = against or _at_own_defaults(model_type, work) or _doubted(model_type, work)
    return Proof(model_type, len(verdicts), exact[0], len(drawn), exact[1], len(probes), exact[2], against)


def _sound(verdict: Verdict) -> bool:
    return verdict.exact and verdict.agree and verdict.unique and verdict.keyed == verdict.tensors


def _at_own_defaults(model_type: str, work: Path) -> str:
    """How a file that names a type and a class differs from the model of the class's own defaults; "" if not.

    With the fields that a probe changes, too: the other fields follow from these. A class may write another
    configuration than it has: one that stores twice its layers is left for a hand.
    """
    for record in (
        each for name in ("truth", "held") for each in records.of_type(work / name, model_type, "default|t")
    ):
        if record.note or record.config.get("model_type") != model_type:
            continue  # built with fields that the defaults lack, or from a part of another type's
        written = dict(flatten(record.config_full))
        if any(written.get(path) != value for path, value in record.overrides.items()):
            continue  # a file has it under another name, or computed
        config = {**nested(record.overrides), "model_type": model_type, "architectures": [record.cls]}
        where = f"{record.cls}, the class's own defaults" + (f" with {record.overrides}" if record.overrides else "")
        try:
            found = predict(Config(config, "config.json"))
        except ConfigError as error:
            return f"{where[:200]}: {error}"
        names = {row.name_of(key): row.shape for row in found.expected for key in row.keys()}
        if names != record.shapes:
            return f"{where[:200]}: {difference(names, record.shapes)}"
    return ""


def _doubted(model_type: str, work: Path) -> str:
    """The first formulas of a draft that its records do not prove; "" if there are none."""
    found = [each for folder in ("truth", "held") for each in records.of_type(work / folder, model_type)]
    reasons = doubts(Config({"model_type": model_type}, "config.json").family, found)
    return f"not proven: {'; '.join(reasons[:3])}" if reasons else ""


def unbuilt_classes(work: Path) -> dict[str, str]:
    """Types of which a class has no record at all, with its first failure."""
    path = work / "failures.tsv"
    found: dict[str, str] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        model_type, cls, variant, reason = line.split("\t", 3)
        if cls == "-" or not list((work / "truth").glob(f"{model_type}__{cls}__*")):
            found.setdefault(model_type, f"{cls} {variant}: {reason[:160]}")
    return found


def failures(work: Path) -> dict[str, Counter[str]]:
    """Type → its variants that were asked for and not built, by class."""
    path = work / "failures.tsv"
    found: dict[str, Counter[str]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        model_type, cls, _, _ = line.split("\t", 3)
        found.setdefault(model_type, Counter())[cls] += 1
    return found


def proofs(work: Path, types: Sequence[str]) -> list[Proof]:
    """What speaks for or against each draft; one whose part is not adopted is not, either."""
    use_drafts(work / "drafts")
    loaded = load_drafts(work / "drafts")
    unbuilt = unbuilt_classes(work)
    found = {each: proof(each, work, unbuilt) for each in types}
    for name, each in found.items():
        if name not in loaded:
            found[name] = each._replace(against="no table could be derived")
    changed = True
    while changed:
        changed = False
        for name, each in found.items():
            missing = "" if each.against else _missing_part(loaded.get(name), found)
            if missing:
                found[name], changed = each._replace(against=f"its part {missing} is not adopted"), True
    return list(found.values())


def adopted(work: Path, types: Sequence[str]) -> list[Proof]:
    """Write the tables of all proven types."""
    found = proofs(work, types)
    write(load_drafts(work / "drafts"), [each.model_type for each in found if not each.against])
    return found


def _missing_part(family: Family | None, proofs: Mapping[str, Proof]) -> str:
    parts = [entry.default_type for entry in family.rows if isinstance(entry, Include)] if family else []
    return next((p for p in parts if p not in model_types() and (p not in proofs or proofs[p].against)), "")


def write(drafts: Mapping[str, Family], types: Iterable[str]) -> None:
    """The tables of some types; types of equal rows share one. A table that is there is replaced, its overlay stays."""
    wanted = set(types)
    shorter = {name: family._replace(rows=tuple(compacted(family.rows))) for name, family in drafts.items()}
    for family in merged({name: family for name, family in name_roles(shorter).items() if name in wanted}):
        package = CONFIG_MAPPING[family.name].__module__.split(".")[2]
        name = module_name(family.name)
        path = TABLES / f"{name}.json"
        classes = auto_classes(family.name)
        made = {
            "about": about(family, classes),
            "source": f"Transformers {transformers.__version__}: models/{package}",
            "made": "derived",
        }
        path.write_text(source(family, **made))


# --- caches -------------------------------------------------------------------------------------


def caches_of(measured: Path) -> Iterator[tuple[str, str]]:
    """Give tables of types that generate the cache that explains all that was measured; each type with what was found.

    The candidates are the caches of all tables: each that a type's fields allow is tried on every measured configuration.
    """
    cases: dict[str, list[Mapping[str, Any]]] = {}
    for line in measured.read_text().splitlines() if measured.exists() else ():
        case = json.loads(line)
        if "bytes" in case:
            cases.setdefault(case["model_type"], []).append(case)
    known = [store().find("families", name) for name in store().names("families")]
    texts = Counter(json.dumps(_cache_fields(each), sort_keys=True) for each in known if each.get("cache"))
    candidates = [json.loads(text) for text, _ in texts.most_common()]
    for model_type, found in cases.items():
        path = TABLES / f"{model_types().get(model_type, '')}.json"
        if (
            not path.exists()
            or (document := json.loads(path.read_text())).get("made") != "derived"
            or "cache" in document
        ):
            continue
        yield model_type, _with_cache(path, document, found, candidates)


def _cache_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    return {field: document[field] for field in ("cache", "cache_defaults", "cache_derived") if field in document}


def _with_cache(path: Path, document: dict[str, Any], cases: Sequence[Mapping[str, Any]], candidates: list[Any]) -> str:
    """The first candidate that is right for all cases, written into the table."""
    for candidate in candidates:
        at = list(document).index("rows") if "rows" in document else len(document)
        items = list(document.items())
        changed = dict([*items[:at], *candidate.items(), *items[at:]])
        path.write_text(table_text.layout(changed))
        forget()
        try:
            if all(_bytes(case) == case["bytes"] for case in cases):
                return f"{json.dumps(candidate['cache'])[:80]}, exact in {len(cases)} runs"
        except Exception:
            continue
    path.write_text(table_text.layout(document))
    forget()
    return f"no known cache explains {len(cases)} runs"


def _bytes(case: Mapping[str, Any]) -> int:
    config = Config(case["config"], "config.json")
    return sum(
        (group.keys + group.values) * len(group.layers) * _tokens(group, case) * (4 if group.dtype == "F32" else 2)
        for group in of_engine(kept(config), "transformers")
    )


def _tokens(group: Any, case: Mapping[str, Any]) -> int:
    if group.kind in ("recurrent", "linear"):
        return group.kernel or 1
    if group.kind == "cross":
        return int(case["source"] or 0)
    held = int(case["context"])
    return min(held, group.window - 1) if group.window else held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--types", default="")
    parser.add_argument("--list", action="store_true", help="adopt nothing")
    arguments = parser.parse_args()
    types = [t for t in arguments.types.split(",") if t] or records.types_in(arguments.work / "truth")
    for each in adopted(arguments.work, types):
        print(
            f"{each.model_type}\t{'left: ' + each.against if each.against else 'adopted'}\t{each.exact}/{each.records}"
        )


if __name__ == "__main__":
    main()
