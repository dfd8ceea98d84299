"""Which of the converter's classes of language models `inspect diff` was shown on → docs/conversions.md.

    python tools/llama_cpp/compare_cases.py SOURCE --seed 92 --vary --record RECORD      # needs torch, transformers, xllamacpp
    python tools/llama_cpp/write_shown.py SOURCE [RECORD]

SOURCE is llama.cpp's. RECORD replaces the record in `fixtures/shown.jsonl`; its last line of a name counts.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convert_cases import ROOT, Converter
from remote import ALSO
from remote import cases as remote_cases

SHOWN = ROOT / "fixtures" / "shown.jsonl"
DOC = ROOT / "docs" / "conversions.md"
#: Classes of which no file can be made, and why.
WITHOUT = {"UltravoxModel": "the converter refuses it: the text is another model's"}
HEAD = """# Conversions that were tried

Written by `tools/llama_cpp/write_shown.py`. For each class of language models that llama.cpp's converter registers: a
tiny model with random numbers in BF16, built by Transformers (*built*) or written from a recipe of names and shapes
(*recipe*; *as X*: as X's), its structure drawn too (*drawn*: flags and numbers that differ from the usual), converted
to F32, BF16 and Q8_0, and compared with `inspect diff --data`. *joined*: every tensor was paired, or is one that the
converter leaves out or makes. *equal*: F32 and BF16 files, up to a rounding of BF16. *rounded*: Q8_0. *found*: one
number of one tensor was changed, and exactly that tensor was different. `#` numbers several cases of a class.
"""


def rows(classes: Mapping[str, str], found: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """A row for each case of each class."""
    recipes = {each.name for each in remote_cases(0)}
    made = []
    for name in sorted(classes, key=str.lower):
        cases = [case for case in found if case.partition("#")[0] == name]
        for case in sorted(cases) or [name]:
            how = f"as {ALSO[case][0]}" if case in ALSO else "recipe" if case in recipes else "built"
            made.append((case, classes[name], how, *_told(case, found.get(case))))
    return made


def _told(case: str, found: Mapping[str, Any] | None) -> tuple[str, ...]:
    if found is None or "why" in found:
        return ("–",) * 4 + (WITHOUT.get(case, str((found or {}).get("why", "not tried"))),)
    faults = found["faults"]
    joined = not any("only_" in fault for fault in faults.values())
    results = (joined, not (faults["F32"] or faults["BF16"]), not faults["Q8_0"], found["tampered"])
    return (*("yes" if result else "**no**" for result in results), found["changes"].replace("_", "\\_"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("record", type=Path, nargs="?")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    converter = Converter(arguments.source)
    registered = converter.base.ModelBase._model_classes[converter.base.ModelType.TEXT]
    lines = [json.loads(line) for line in (arguments.record or SHOWN).read_text().splitlines()]
    found = {line["name"]: line for line in lines}
    made = rows({name: registered[name].__name__ for name in converter.classes()}, found)
    right = [row for row in made if row[3:7] == ("yes",) * 4]
    reported = f"{len(right)} of {len(made)} cases of {len(registered)} registered names are right in all four.\n"
    table = [
        "| class | converter's | model | joined | equal | rounded | found | drawn, or why not |",
        "|---|---|---|---|---|---|---|---|",
    ]
    table += [f"| {' | '.join(row)} |" for row in made]
    DOC.write_text("\n".join([HEAD, reported, *table]) + "\n")
    SHOWN.write_text("".join(f"{json.dumps(found[name], separators=(',', ':'))}\n" for name in sorted(found)))


if __name__ == "__main__":
    main()
