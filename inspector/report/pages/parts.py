"""What pages are made of. All text is as the file has it: `render` escapes it.

Page("llama-7b", "6.74B parameters, …", (Section("Tensors", (Table(…),)),))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from inspector.model import Finding
from inspector.plots.figure import Chart

#: Numbers are shown with their thousands apart, and sorted as numbers; a shape is a text of `4096×11008`.
Kind = Literal["text", "number"]
Cell = str | int | float | None


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
    mood: Literal["good", "warning", "bad", "plain"] = "plain"  # the verdict's colour; its words say the same

    @property
    def charts(self) -> list[Chart]:
        """All charts, in their order."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Chart)]
