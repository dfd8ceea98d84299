"""The page of `inspect scan --report DIR --html FILE`. It has no charts, and does not need plotly."""

from __future__ import annotations

from typing import Any

from inspector.report import scan as report
from inspector.report.pages.parts import MOST_CHOICES, Cell, Column, Page, Section, Table
from inspector.scanning.asking import Answer, Report
from inspector.units import plural


def page(found: Report, folder: str) -> Page:
    """A scan's report, section by section, with every row."""
    _, verdict, *more = report.head(found, folder)
    sections = [
        Section(report.TITLES[name], [_table(answer)]) for name, answer in report.shown(found) if answer.columns
    ]
    bad = found.total["broken"] or found.total["unreadable"]
    return Page(f"Scan {folder}", verdict, sections, more, "bad" if bad else "good")


def _table(answer: Answer) -> Table:
    columns, cells = list[Column](), list[list[Cell]]()
    for at, name in enumerate(answer.columns):
        values = [_cell(row[at]) for row in answer.rows]
        number = any(isinstance(value, (int, float)) for value in values)
        choices = 0 if number else len(set(values))
        columns.append(Column(name.replace("_", " "), "number" if number else "text", 1 < choices <= MOST_CHOICES // 4))
        cells.append(values)
    return Table(plural(len(answer.rows), "row"), columns, list(zip(*cells, strict=True)))


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, (int, float, str)):
        return value
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
