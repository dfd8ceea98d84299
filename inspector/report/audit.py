"""An audit as text, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from inspector.auditing.catalogue import all_rules
from inspector.auditing.examination import Audited
from inspector.auditing.run import Audit
from inspector.auditing.targets import Failed
from inspector.auditing.verdicts import NOT_INSTALLED, Verdict
from inspector.report.columns import table, text_width, wrapped
from inspector.report.documents import SCHEMA, fields, finding
from inspector.report.pages.parts import Cell, Column, Findings, Page, Section, Table, mood, of_rows
from inspector.report.tables import Rows, columns
from inspector.report.words import public
from inspector.units import escape, plural, size

#: Findings shown per model; --json has them all.
MOST_FINDINGS = 40
_PATH, _MESSAGE = 80, 300


def text(result: Audit, width: int | None = None) -> str:
    """Model by model, then the totals, in at most `width` columns."""
    return "\n".join((*_models(result, width), "", summary(result)))


def _models(result: Audit, width: int | None) -> Iterator[str]:
    for model in result.checkpoints:
        what = plural(model.files, "file") if model.files else "the cache itself"
        what = what if model.is_model or not model.files else f"{what} of no model"
        yield f"{escape(title(model), 120)}: {what}, {size(model.size)}: {verdict(model)}"
        if model.findings:
            yield _table(model, width)
        if len(model.findings) > MOST_FINDINGS:
            yield f"  … {plural(len(model.findings) - MOST_FINDINGS, 'more finding')}: --json lists them all"


def line(found: Audited | Failed) -> str:
    """`inspect scan --watch`: one line per model, with its most severe finding."""
    if isinstance(found, Failed):
        return f"{escape(found.target, 120)}: {escape(str(found.reason), _MESSAGE)}"
    first = next((each for each in found.findings if each.severity != "info"), None)
    why = f": {first.rule}: {escape(first.message, 120)}" if first else ""
    return f"{escape(title(found), 120)}: {plural(found.files, 'file')}, {size(found.size)}: {verdict(found)}{why}"


def title(model: Audited) -> str:
    """A display name: for `.` and the like, the folder's own name."""
    unnamed = model.root is not None and PurePath(model.target).name in ("", "..")
    return Path(model.root or "").resolve().name if unnamed else model.target


def verdict(model: Audited) -> str:
    """Our verdict in numbers, then the reference readers'."""
    numbers = {s: sum(f.severity == s for f in model.findings) for s in ("error", "warning", "info")}
    counts = ", ".join(plural(n, name if name != "info" else "note") for name, n in numbers.items() if n)
    absent = any(finding.rule in _ABSENT for finding in model.findings)
    return "; ".join(filter(None, (counts or "nothing found", *_readers(model.verdicts, whole=not absent))))


#: Rules about missing files of a set.
_ABSENT = frozenset({"missing-shard", "missing-part"})


def _readers(verdicts: tuple[Verdict, ...], *, whole: bool) -> Iterator[str]:
    """The readers' verdicts: "opens all 4" is a reader's own; "would open" follows its rules, if it was not run."""
    for reader in sorted({verdict.reader for verdict in verdicts}):
        own = [verdict for verdict in verdicts if verdict.reader == reader]
        opened = sum(verdict.accepts is True for verdict in own)
        if all(verdict.reason == NOT_INSTALLED for verdict in own):
            yield f"the {reader} package is not installed, so it was not run"
            continue
        if all(verdict.accepts is None for verdict in own):
            reasons = ", ".join(sorted({verdict.reason for verdict in own if verdict.reason}))
            yield f"whether {reader} opens {'it' if len(own) == 1 else 'them'} is unknown ({escape(reasons, 80)})"
            continue
        opens = "opens" if all(verdict.asked for verdict in own) else "would open"
        if opened == len(own) and not whole:
            yield f"{reader} {opens} the {plural(opened, 'file')} that {'is' if opened == 1 else 'are'} present"
        elif opened == len(own):
            yield f"{reader} {opens} {'it' if opened == 1 else f'all {opened}'}"
        else:
            yield f"{reader} {opens} {opened} of {plural(len(own), 'file')}"


def _table(model: Audited, width: int | None) -> str:
    """Columns if they fit; else each message below its location, folded."""
    rows = [
        (
            "",
            each.severity,
            each.rule,
            ": ".join(escape(part, _PATH) for part in (each.path, each.tensor) if part is not None),
            escape(each.message, _MESSAGE),
        )
        for each in model.findings[:MOST_FINDINGS]
    ]
    whole = table(rows, (), "lllll")
    if width is None or max(map(text_width, whole.split("\n"))) <= width:
        return whole
    heads = table([row[:4] for row in rows], (), "llll", width=width, give=((3, 12),)).split("\n")
    below = (wrapped(" " * _INDENT + row[4], width, _INDENT) for row in rows)
    return "\n".join(line for pair in zip(heads, below, strict=True) for line in pair)


#: Columns by which a message is indented below its finding.
_INDENT = 9


def summary(result: Audit) -> str:
    """Counts of all findings, in one line."""
    counts = result.counts
    counted = (
        f"{plural(counts['error'], 'error')}, {plural(counts['warning'], 'warning')}, {plural(counts['info'], 'note')}"
    )
    left_out = ", ".join(f"{number} × {escape(code)}" for code, number in sorted(result.ignored.items()))
    models = plural(sum(each.is_model for each in result.checkpoints), "model")
    unjudged = len([each for each in result.failed if not each.examined])
    failed = f"; {plural(unjudged, 'target')} not audited" if unjudged else ""
    unread = (
        "" if result.data or not any(each.is_model for each in result.checkpoints) else "; values were not read: --data"
    )
    return f"{models}: {counted}" + (f"; ignored: {left_out}" if left_out else "") + failed + unread


def document(result: Audit) -> dict[str, Any]:
    """`inspect audit --json`."""
    return {
        "schema": SCHEMA,
        "checkpoints": [
            {
                **fields(model, "target files size"),
                "findings": [finding(each) for each in model.findings],
                "verdicts": [fields(each, "path reader accepts rule=reason asked") for each in model.verdicts],
            }
            for model in result.checkpoints
        ],
        "counts": dict(result.counts),
        "ignored": dict(result.ignored),
        "failed": [{"target": each.target, "message": str(each.reason)} for each in result.failed],
    }


#: Columns of a table with one row per finding.
COLUMNS = columns("target severity rule path tensor message")


def rows(result: Audit) -> Rows:
    """One row per finding."""
    found = [{"target": model.target, **finding(each)} for model in result.checkpoints for each in model.findings]
    return Rows(COLUMNS, found)


def rules() -> str:
    """`inspect audit --rules`: one line each."""
    rows = [(rule.code, rule.severity, rule.group, rule.title) for rule in all_rules().values()]
    return table(rows, (), "llll")


# --- the page ----------------------------------------------------------------------------------------

_COUNTS = {"error": "errors", "warning": "warnings", "info": "notes"}
_MODEL_COLUMNS = (
    Column("model"),
    *(Column(name, "number") for name in ("files", "bytes", *_COUNTS.values())),
    Column("verdict"),
)
#: Models that have their own section; the table of all findings also has the others.
MOST_SECTIONS = 100


def page(result: Audit) -> Page:
    """`inspect audit TARGET… --html FILE`: every model with its verdict, and all findings. Without charts or plotly."""
    result = replace(
        result,
        checkpoints=tuple(replace(each, target=public(each.target)) for each in result.checkpoints),
        failed=tuple(replace(each, target=public(each.target)) for each in result.failed),
    )
    return Page(
        "Audit" if len(result.checkpoints) != 1 else f"Audit of {title(result.checkpoints[0])}",
        summary(result),
        list(_sections(result)),
        mood="bad" if result.failed else mood(each for model in result.checkpoints for each in model.findings),
    )


def _sections(result: Audit) -> Iterator[Section]:
    models = list(map(_model, result.checkpoints))
    yield Section("Models", [Table(plural(len(models), "model"), _MODEL_COLUMNS, models)])
    if result.failed:
        failed = [(each.target, str(each.reason)) for each in result.failed]
        yield Section("Not audited", [Table("Targets", (Column("target"), Column("why")), failed)])
    found = [model for model in result.checkpoints if model.findings]
    if len(found) > 1:
        yield Section("All findings", [of_rows("All findings", rows(result), ("severity", "rule", "target"))])
    yield from (Section(title(model), [Findings(model.findings)]) for model in found[:MOST_SECTIONS])


def _model(model: Audited) -> tuple[Cell, ...]:
    counts = (sum(each.severity == severity for each in model.findings) for severity in _COUNTS)
    return (title(model), model.files, model.size, *counts, verdict(model))
