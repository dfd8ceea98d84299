"""The parts of pages. All text is unescaped: `render` escapes it.

Page("llama-7b", "6.74B parameters, …", (Section("Tensors", (Table(…),)),))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from inspector.model import Finding
from inspector.plots.figure import Chart
from inspector.report.tables import Rows, joined

#: Numbers are shown with thousands separators, and sorted as numbers; bytes as `13.48 GB` where a table is written out;
#: a shape is text like `4096×11008`.
Kind = Literal["text", "number", "bytes"]
Cell = str | int | float | None
Mood = Literal["good", "warning", "bad", "plain"]


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind = "text"
    filtered: bool = False  # whether it can be filtered by value: for columns with few values


class Table(NamedTuple):
    """Rows, with one cell per column. A long table can be searched, sorted and filtered."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


class Text(NamedTuple):
    """Lines of text, one paragraph each."""

    lines: Sequence[str]


class Report(NamedTuple):
    """Text as on a terminal, with its columns aligned."""

    text: str


class Findings(NamedTuple):
    """Findings, the most severe first."""

    found: Sequence[Finding]
    nothing: str = "Nothing found."


Part = Table | Text | Report | Findings | Chart


class Section(NamedTuple):
    """A title and its contents."""

    title: str
    parts: Sequence[Part]


class Page(NamedTuple):
    """One page."""

    title: str
    verdict: str
    sections: Sequence[Section]
    lines: Sequence[str] = ()  # facts, below the verdict
    mood: Mood = "plain"  # the verdict's colour; its words say the same


def word_of(severity: str) -> str:
    """A finding's severity as people say it."""
    return "note" if severity == "info" else severity


def mood(found: Iterable[Finding]) -> Mood:
    """The colour of a verdict, by the most severe finding."""
    severities = {each.severity for each in found}
    return "bad" if "error" in severities else "warning" if "warning" in severities else "good"


#: The most values of a column by which a page filters.
MOST_CHOICES = 200


def of_rows(caption: str, rows: Rows, filtered: Sequence[str] = (), first: str = "") -> Table:
    """A table as in the other output forms, without empty columns.

    Args:
        filtered: columns to filter by, if they have several values but not too many.
        first: the columns that come first, of which a narrow page has as many as fit.
    """
    kept, cells = list[Column](), list[list[Cell]]()
    order = {name: place for place, name in enumerate(first.split())}
    for name, kind in sorted(rows.columns, key=lambda column: order.get(column.name, len(order))):
        values = [row.get(name) for row in rows.rows]
        if kind not in _NUMBERS and kind != "string":
            values = list(map(_cell, values))
        if any(value is not None for value in values) or not values:
            choices = len(set(values)) if name in filtered else 0
            kept.append(
                Column(name.replace("_", " "), "number" if kind in _NUMBERS else "text", 1 < choices <= MOST_CHOICES)
            )
            cells.append(values)
    return Table(caption, kept, list(zip(*cells, strict=True)))


_NUMBERS = ("uint64", "int64", "double")


def _cell(value: Any) -> Cell:
    """A cell, with a list written like a shape."""
    if isinstance(value, (list, tuple)):
        return joined(value, "×") or "scalar"
    if isinstance(value, bool):
        return "yes" if value else "no"
    cell: Cell = value
    return cell
