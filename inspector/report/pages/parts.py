"""What pages are made of. All text is as the file has it: `render` escapes it.

Page("llama-7b", "6.74B parameters, …", (Section("Tensors", (Table(…),)),))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from inspector.model import Finding
from inspector.plots.figure import Chart
from inspector.report.tables import Rows, joined

#: Numbers are shown with their thousands apart, and sorted as numbers; a shape is a text of `4096×11008`.
Kind = Literal["text", "number"]
Cell = str | int | float | None
Mood = Literal["good", "warning", "bad", "plain"]


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind = "text"
    filtered: bool = False  # whether people pick one of its values: for columns of few


class Table(NamedTuple):
    """Rows, each a cell a column. A long table is searched, sorted and filtered, and only its visible part is drawn."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


class Text(NamedTuple):
    """Lines of text, each a paragraph."""

    lines: Sequence[str]


class Report(NamedTuple):
    """Text as a terminal shows it, its columns in their places."""

    text: str


class Findings(NamedTuple):
    """What was found, the gravest first."""

    found: Sequence[Finding]
    nothing: str = "Nothing found."


Part = Table | Text | Report | Findings | Chart


class Section(NamedTuple):
    """A title and what stands under it."""

    title: str
    parts: Sequence[Part]


class Page(NamedTuple):
    """One page."""

    title: str
    verdict: str
    sections: Sequence[Section]
    lines: Sequence[str] = ()  # facts, below the verdict
    mood: Mood = "plain"  # the verdict's colour; its words say the same

    @property
    def charts(self) -> list[Chart]:
        """All charts, in their order."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Chart)]


#: A page filters by a column of no more values than people look through.
MOST_CHOICES = 200


def of_rows(caption: str, rows: Rows, filtered: Sequence[str] = ()) -> Table:
    """A table as the other forms have it, without columns that are empty.

    Args:
        filtered: columns by whose values people choose, where there are several and not too many.
    """
    kept, cells = list[Column](), list[list[Cell]]()
    for name, kind in rows.columns:
        values = [row.get(name) for row in rows.rows]
        if kind not in _NUMBERS and kind != "string":
            values = list(map(_cell, values))
        if any(value is not None for value in values) or not values:
            choices = len(set(values)) if name in filtered else 0
            kept.append(Column(name, "number" if kind in _NUMBERS else "text", 1 < choices <= MOST_CHOICES))
            cells.append(values)
    return Table(caption, kept, list(zip(*cells, strict=True)))


_NUMBERS = ("uint64", "int64", "double")


def _cell(value: Any) -> Cell:
    """Lists as shapes are written."""
    if isinstance(value, (list, tuple)):
        return joined(value, "×") or "scalar"
    if isinstance(value, bool):
        return "yes" if value else "no"
    told: Cell = value
    return told
