"""The page of `inspect audit TARGET… --html FILE`. It has no charts, and does not need plotly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inspector.auditing.examination import Audited
from inspector.auditing.run import Audit
from inspector.report import audit as report
from inspector.report.pages.overview import mood
from inspector.report.pages.parts import Cell, Column, Findings, Page, Section, Table, of_rows
from inspector.report.words import public
from inspector.units import plural

_COUNTS = {"error": "errors", "warning": "warnings", "info": "notes"}
_COLUMNS = (
    Column("model"),
    *(Column(name, "number") for name in ("files", "bytes", *_COUNTS.values())),
    Column("verdict"),
)
#: Models that have their own section; the table of all findings also has the others.
MOST_SECTIONS = 100


def page(result: Audit) -> Page:
    """Every model with its verdict, and all findings."""
    result = replace(
        result,
        checkpoints=tuple(replace(each, target=public(each.target)) for each in result.checkpoints),
        failed=tuple(replace(each, target=public(each.target)) for each in result.failed),
    )
    return Page(
        "Audit" if len(result.checkpoints) != 1 else f"Audit of {report.title(result.checkpoints[0])}",
        report.summary(result),
        list(_sections(result)),
        mood="bad" if result.failed else mood(each for model in result.checkpoints for each in model.findings),
    )


def _sections(result: Audit) -> Iterator[Section]:
    rows = list(map(_model, result.checkpoints))
    yield Section("Models", [Table(plural(len(rows), "model"), _COLUMNS, rows)])
    if result.failed:
        failed = [(each.target, str(each.reason)) for each in result.failed]
        yield Section("Not audited", [Table("Targets", (Column("target"), Column("why")), failed)])
    found = [model for model in result.checkpoints if model.findings]
    if len(found) > 1:
        yield Section("All findings", [of_rows("All findings", report.rows(result), ("severity", "rule", "target"))])
    yield from (Section(report.title(model), [Findings(model.findings)]) for model in found[:MOST_SECTIONS])


def _model(model: Audited) -> tuple[Cell, ...]:
    counts = (sum(each.severity == severity for each in model.findings) for severity in _COUNTS)
    return (report.title(model), model.files, model.size, *counts, report.verdict(model))
