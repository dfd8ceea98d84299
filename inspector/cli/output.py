"""How a command shows its result: text, JSON, rows in many forms, and a page besides."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector.cli import console, terminal
from inspector.errors import UsageError
from inspector.tabular import NamedTuple
from inspector.units import escape

if TYPE_CHECKING:
    from inspector.report.pages.parts import Page
    from inspector.report.tables import Rows


class Output(NamedTuple):
    """What was requested: the form of the result, and files to write."""

    forms: tuple[str, ...] = ()  # as given; text if empty
    parquet: str | None = None  # where the rows are written
    html: str | None = None  # where a page is written, too
    wide: bool = False

    @property
    def form(self) -> str | None:
        """The one requested form; None for text. Raises UsageError for two."""
        forms = [*self.forms, *(["parquet"] if self.parquet is not None else [])]
        if len(set(forms)) > 1:
            raise UsageError(f"only one output at a time: {' and '.join(forms)} were given")
        return forms[0] if forms else None

    @property
    def width(self) -> int | None:
        """Columns for text; None if unlimited."""
        return terminal.screen(wide=self.wide).width

    def check(self) -> None:
        """Reject what cannot be written before any work is done.

        Raises:
            UsageError: two forms were requested, a package is missing, or a file cannot be written.
            SourceError: a file's folder does not exist.
        """
        from inspector.report import saving

        if self.form == "parquet":
            from inspector.measuring import needs

            needs.check_parquet()
        for path, kind in ((self.parquet, saving.PARQUET), (self.html, saving.PAGE)):
            if path is not None:
                saving.check(path, kind)

    def show(
        self,
        lines: Callable[[], Iterable[str]],
        document: Callable[[], dict[str, Any]],
        rows: Callable[[], Rows],
        *,
        titled: bool = False,
    ) -> None:
        """Print the result in the requested form, of which only this one is made.

        Args:
            titled: whether the text's first line is a title.
        """
        if self.form == "json":
            console.print_json(document())
        elif self.form:
            self.show_rows(rows())
        else:
            console.print_lines(lines(), titled=titled, wide=self.wide)

    def show_rows(self, rows: Rows) -> None:
        """Write the rows, on stdout except for Parquet."""
        from inspector.report import tables

        if self.parquet is not None:
            tables.write_parquet(self.parquet, rows.columns, rows.rows)
        elif self.form == "csv":
            with console.reader_may_leave():
                tables.write_csv(rows.names, rows.rows, sys.stdout)
        elif self.form == "jsonl":
            print_json_lines({name: row.get(name) for name in rows.names} for row in rows.rows)
        else:
            print_table(rows.rows, rows.names, self.form or "")

    def write_page(self, page: Callable[[], Page]) -> None:
        """Write a page, completely or not at all, if one is wanted."""
        if self.html is None:
            return
        from inspector.report import saving
        from inspector.report.pages import render

        text = render.html(page(), command())
        saving.save(self.html, saving.PAGE, lambda place: place.write_text(text, "utf-8", newline="\n"))


def print_json_lines(documents: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object per line."""
    with console.reader_may_leave():
        sys.stdout.writelines(f"{json.dumps(each)}\n" for each in documents)


def print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], form: str) -> None:
    """Print rows as a table in one of tabulate's formats. Raises UsageError for an unknown format."""
    from tabulate import tabulate, tabulate_formats

    from inspector.report import tables

    if form not in tabulate_formats:
        raise UsageError(f"unknown format {form!r}; known: {', '.join(tabulate_formats)}")
    form = tables.SAFE.get(form, form)
    cells = [[tables.cell(_cell(row.get(column)), form) for column in columns] for row in rows]
    console.print_lines((tabulate(cells, columns, tablefmt=form, disable_numparse=True),), wide=True)


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        from inspector.report.tables import joined

        value = joined(value, "×")
    return "" if value is None else escape(str(value))


def command() -> str:
    """The command line as typed, for display: without secrets in URLs."""
    import shlex

    from inspector.report.words import public

    return escape(shlex.join(("inspect", *map(public, sys.argv[1:]))), 1000)
