"""`--html FILE`: a page in addition to a command's output."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from inspector.report import saving
from inspector.report.words import public
from inspector.units import escape

if TYPE_CHECKING:
    from inspector.model import Reconciliation
    from inspector.opening.models import Models
    from inspector.report.pages.parts import Page


def check(path: str | None, *, charts: bool = True) -> None:
    """Check, before any work is done, that the file can be written and charts can be drawn. No-op without a path.

    Raises:
        UsageError, SourceError: as for `saving.check`, or plotly is not installed.
    """
    if path is None:
        return
    saving.check(path, saving.PAGE)
    if charts:
        from inspector.report.pages import render

        render.check_plotly()


def write(path: str, page: Page) -> None:
    """Write a page completely or not at all."""
    from inspector.report.pages import render

    text = render.html(page, command())
    saving.save(path, saving.PAGE, lambda place: place.write_text(text, "utf-8", newline="\n"))


def write_overview(path: str, result: Reconciliation) -> None:
    """The page of `inspect TARGET`."""
    from inspector.report.pages import overview

    write(path, overview.page(result))


def write_models(path: str, title: str, found: Models) -> None:
    """The page of a folder of unrelated models."""
    from inspector.report import models as report
    from inspector.report.pages.parts import Page, Section, of_rows

    _, told, *_ = report.lines(title, found).split("\n")
    table = of_rows(told, report.rows(found), ("architecture", "format", "type", "complete"))
    write(path, Page(title, told, [Section("Models", [table])]))


def write_report(path: str, report: str) -> None:
    """Write a page with a terminal report, titled by its first line."""
    from inspector.report.pages.parts import Page, Report, Section

    title, _, rest = report.partition("\n")
    write(path, Page(title, rest.strip().partition("\n")[0], [Section("Report", [Report(rest.strip("\n"))])]))


def command() -> str:
    """The command line as typed, for display: without secrets in URLs."""
    return escape(shlex.join(("inspect", *map(public, sys.argv[1:]))), 1000)
