"""Lists that pages of the documentation take from the code: rules, roles, bounds, model types, GGUF architectures.

A line `<!-- NAME -->` in a file of docs/ is replaced by a list.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from bounds_table import ROOT, SAID, bounds, table, value

from inspector.architectures import listed_gguf, model_types
from inspector.architectures.data.roles import BY_GROUP
from inspector.architectures.store import store
from inspector.auditing.catalogue import all_rules
from inspector.auditing.rule import GROUPS
from inspector.scanning.queries import QUERIES
from inspector.scanning.schema import TABLES, arrow_schema

_QUESTIONS = {
    "whole": "Whole: is everything present, and is each file what its name says?",
    "consistent": "Consistent: do the files agree?",
    "data": "Data: are the numbers sound? With `--data`, which reads the tensors.",
    "safe": "Safe: can it do harm?",
}


def lists() -> dict[str, str]:
    """The list for each marker, as Markdown."""
    return {
        "rules": _rules(),
        "roles": _roles(),
        "bounds": _bounds(),
        "model types": _model_types(),
        "classes of Diffusers": _classes_of_diffusers(),
        "GGUF architectures": _gguf_architectures(),
        "kinds of projectors": ", ".join(f"`{x}`" for x in sorted(store().names("projectors")) if x[0] != "_") + ".",
        "tables of a scan": _scanned(),
        "queries of a scan": "\n".join(
            f"**{q}**: {each.about}\n\n```sql\n{each.sql}\n```\n" for q, each in QUERIES.items()
        ),
    }


def _rules() -> str:
    """Every rule of the audit with its documentation, which is the docstring of its function."""
    lines: list[str] = []
    for group in GROUPS:
        lines += [f"## {_QUESTIONS[group]}", ""]
        for rule in all_rules().values():
            if rule.group == group:
                lines += [f"### `{rule.code}` ({rule.severity})", "", *rule.documentation.split("\n"), ""]
                lines += [*([f"*{'; '.join(rule.seen)}*", ""] if rule.seen else [])]
    return "\n".join(lines)


def _roles() -> str:
    lines: list[str] = []
    for group, meanings in BY_GROUP.items():
        rows = ((f"`{role}`", meaning) for role, meaning in meanings.items())
        lines += [f"## {group}", "", *_table(("role", "purpose"), rows), ""]
    return "\n".join(lines)


def _bounds() -> str:
    described = table()

    def row(name: str, comment: str) -> tuple[str, ...]:
        known = described[name]
        met = known["met"] if known["met"] in SAID else f"`{known['met']}`"
        return f"`{name}`", _number(value(name)), known.get("what", comment).replace("|", "\\|"), met

    found = (row(each.name, each.comment) for each in bounds())
    words = (f"- **{word}**: {what};" for word, what in SAID.items())
    return "\n".join((*words, "", *_table(("bound", "value", "what it limits", "where it is met"), found)))


def _number(found: Any) -> str:
    if isinstance(found, tuple):
        return ", ".join(f"{most:,} {what}" for _, most, what in found)
    return f"{found:,}" if found != 2**63 - 1 else "2⁶³ − 1"


def _model_types() -> str:
    covered = store().find("made", "coverage")
    unknown = (None,) * 4  # Transformers does not have the type
    heads = ("model type", "table", "keyed %", "default %", "changed %", "drawn %")
    homes = sorted(model_types().items())
    rows = ((name, home, *("–" if x is None else str(x) for x in covered.get(name, unknown))) for name, home in homes)
    measured = [[each[column] for each in covered.values() if each and each[column] is not None] for column in range(4)]
    shares = [f"{sum(one == 100 for one in found):,} of {len(found):,}" for found in measured]
    counts = (
        f"Of the model types for which it was measured, {shares[0]} have all tensors keyed, and {shares[1]} are exact at "
        f"every default class, {shares[2]} at every changed configuration, {shares[3]} at every drawn one."
    )
    return "\n".join((counts, "", *_table(heads, rows)))


def _classes_of_diffusers() -> str:
    names = (name for name, home in model_types().items() if home.startswith("diffusers_"))
    return ", ".join(f"`{name}`" for name in sorted(names, key=str.lower)) + "."


def _gguf_architectures() -> str:
    fixtures = ROOT / "fixtures"
    kinds = json.loads((fixtures / "gguf_kinds.json").read_text())
    lines = (fixtures / "gguf_cases.jsonl").read_text().splitlines()
    cases = Counter(json.loads(line)["architecture"] for line in lines)
    rows = (
        (
            each.architecture,
            each.model_type or "–",
            str(len(kinds[each.architecture].split())),
            "from key-values" if each.predicted else "names only",
            str(cases.get(each.architecture, "–")),
        )
        for each in listed_gguf()
    )
    known = listed_gguf()
    counts = (
        f"Of {len(known)} architectures, {sum(each.predicted for each in known)} are predicted, {len(cases)} of them tested "
        f"with {sum(cases.values())} converted models."
    )
    return "\n".join((counts, "", *_table(("architecture", "model type", "kinds", "prediction", "cases"), rows)))


def _scanned() -> str:
    """The columns of each table that a scan writes."""
    lines: list[str] = []
    for name in ("checkpoints", "files", "tensors", "findings"):
        types = {field.name: str(field.type) for field in arrow_schema(name)}
        rows = ((f"`{each.name}`", types[each.name], each.meaning) for each in TABLES[name])
        lines += [f"### `{name}`", "", *_table(("column", "type", "meaning"), rows), ""]
    return "\n".join(lines)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows)]
