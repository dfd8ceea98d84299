"""Drafts of diffusers' classes → tables and cases, if they predict their records.

    python -m zoo.write_diffusers --truth DIR/truth --drafts DIR/drafts [--types a,b]

A class is written if its default is predicted to the shape, and so are most of its changes. A class that has a table
already is left out, unless `--types` names it.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import cases
import table_text

from inspector.architectures import family_of, model_types
from zoo import check, records
from zoo.derive_drafts import load_drafts, look_up_in
from zoo.derive_roles import compacted, name_roles
from zoo.write import TABLES, merged, ordered

if TYPE_CHECKING:
    from inspector.architectures.table import Family
    from zoo.records import Record

#: The variants that become cases, the first that are exact; and the maximum length of a case.
CASES, LONGEST = ("p2", "p3", "p1", "default"), 9000
#: How many of the records of changes are checked.
SAMPLE = 12
#: The share of records that a table must explain.
MOST = 0.6


def file_name(cls: str) -> str:
    """`FluxTransformer2DModel` → `diffusers_flux_transformer_2d_model`."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+[A-Z]?(?![a-z])|\d+", cls)
    return "diffusers_" + "_".join(word.lower() for word in words)


def kept(cls: str, truth: Path) -> tuple[bool, list[Record]]:
    """Whether a class's table is good enough, and the records that it predicts."""
    paths = sorted(truth.glob(f"{cls}__*.json.gz"))
    bases = [path for path in paths if path.name.split("__")[2].split(".")[0] in CASES]
    others = [path for path in paths if path not in bases]
    found = [records.read(path) for path in (*bases, *others[:: max(1, len(others) // SAMPLE)])]
    exact = []
    default = False
    for record in found:
        verdict = check.check(record)
        if verdict.exact and verdict.unique and verdict.agree:
            exact.append(record)
            default |= record.variant == "default"
    return default and len(exact) >= MOST * len(found), exact


def write_cases(name: str, exact: dict[str, list[Record]]) -> None:
    """One small model of each class."""
    found = []
    for cls, its in exact.items():
        chosen = sorted(its, key=lambda r: CASES.index(r.variant) if r.variant in CASES else len(CASES))
        texts = [cases.Case(f"diffusers, {cls}", _config(r), dict(r.shapes)) for r in chosen[:4]]
        short = [case for case in texts if len(cases.text(case)) < LONGEST]
        found += short[:2] or [min(texts, key=lambda case: len(cases.text(case)))]
    (cases.FOLDER / f"{name}.txt").write_text("\n".join(map(cases.text, found)))


def _config(record: Record) -> dict[str, object]:
    family = family_of(record.config)
    if family is None:
        raise LookupError(f"no table for {record.config['_class_name']}")
    named = repr([family.rows, family.derived, family.fields])
    fields = {k: v for k, v in record.config.items() if re.search(rf"\b{re.escape(k)}\b", named)}
    return {"_class_name": record.config["_class_name"], **{k: v for k, v in fields.items() if k != "model_type"}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--drafts", type=Path, required=True)
    parser.add_argument("--types", default="")
    arguments = parser.parse_args()
    chosen = set(arguments.types.split(",")) - {""}
    loaded = load_drafts(arguments.drafts, chosen or None)
    loaded = {cls: f for cls, f in loaded.items() if cls in chosen or (not chosen and cls not in model_types())}
    shorter = {
        cls: f._replace(rows=tuple(compacted(f.rows)), head="Model", classes={}, prefixes={})
        for cls, f in loaded.items()
    }
    families: dict[str, Family] = name_roles(shorter)
    look_up_in(families)
    exact: dict[str, list[Record]] = {}
    for cls in families:
        good, its = kept(cls, arguments.truth)
        if good:
            exact[cls] = its
        else:
            print(f"{cls}: not written", flush=True)
    for family in merged({cls: families[cls] for cls in exact}):
        name = file_name(family.name)
        reported = (
            f"diffusers' {', '.join(family.types)}."
            if len(family.types) < 5
            else f"diffusers' {family.name} and {len(family.types) - 1} more."
        )
        family = family._replace(rows=ordered(family.rows))
        source = "diffusers' models, built and traced: tools/zoo"
        text = table_text.text(family, name, about=reported, source=source, outside=list(family.types))
        (TABLES / f"{name}.json").write_text(text)
        write_cases(name, {cls: exact[cls] for cls in family.types})
    print(f"{len(exact)} classes written")


if __name__ == "__main__":
    main()
