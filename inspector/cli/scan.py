"""`inspect scan`: thousands of checkpoints into tables, and reports on the tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console, terminal
from inspector.cli.options import FORMS, HTML, WIDE, output_options
from inspector.cli.output import Output
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.scanning.run import Progress

FINDINGS = 1  # exit code: something is broken or cannot be read


@click.command(short_help="Thousands of checkpoints as tables: broken, copied, new.")
@click.argument("roots", nargs=-1, metavar="[ROOT...]")
@click.option("--out", type=click.Path(), metavar="DIR", help="Write the tables to DIR.")
@click.option("--resume", is_flag=True, help="Resume the scan in DIR, or bring it up to date.")
@click.option("--targets", multiple=True, metavar="FILE", help="A file with further ROOTs, one per line.")
@click.option("--scheduler", metavar="URL", help="Your own Dask scheduler, tcp://…; by default this machine's cores.")
@click.option("--workers", type=click.IntRange(1, 1024), metavar="N", help="Processes on this machine.")
@click.option("--requests-per-second", type=click.FloatRange(0.01, 100_000), default=50.0, metavar="N",
              help="Requests per second to one server, from all workers together (50).")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0.1, 86_400), default=120.0, metavar="SECONDS",
              help="Seconds for one checkpoint, or for listing one folder (120).")  # fmt: skip
@click.option("--watch", is_flag=True, help="Audit whatever appears in a folder, one line each, until Ctrl-C.")
@click.option(
    "--report",
    type=click.Path(),
    metavar="DIR",
    help="What the tables show: totals, broken, duplicated, derived, grown.",
)
@click.option(
    "--sql", metavar="QUERY", help="Query the tables in ROOT, a scan's folder: SQL for DuckDB, or a query's name."
)
@click.option("--sbom", type=click.Path(), metavar="FILE", help="Write a bill of materials: *.cdx.json, *.spdx3.json.")
@click.option("--queries", is_flag=True, help="List the named queries.")
@output_options(WIDE, HTML, *FORMS)
def scan(
    roots: tuple[str, ...],
    out: str | None,
    targets: tuple[str, ...],
    watch: bool,
    report: str | None,
    sql: str | None,
    sbom: str | None,
    queries: bool,
    output: Output,
    **options: Any,
) -> None:
    """Inspect and audit every checkpoint at the ROOTs, and write four tables: checkpoints, files, tensors, findings.

    \b
    inspect scan /models s3://bucket/models --out DIR
    inspect scan hf://org @targets.txt --out DIR
    inspect scan --out DIR --resume          resume, or bring it up to date
    inspect scan --report DIR                totals, broken, copied, derived
    inspect scan --sql "SELECT …" DIR        DuckDB over the four tables
    inspect scan /models --sbom all.cdx.json a bill of materials

    A checkpoint that cannot be read is a row with its error. Exits with 1 if any are broken or cannot be read.
    """
    form = output.form
    if output.html is not None and report is None:
        raise UsageError("--html writes a report's page: add --report DIR")
    output.check()
    if queries:
        _list_queries(output)
        return
    if form not in (None, "json") and sql is None:
        raise UsageError("only --sql returns rows (SQL, or a query's name: --queries); use --json otherwise")
    alone = sbom is not None and not (out or report or sql or watch)
    if not alone and sum(map(bool, (out, report, sql, watch))) != 1:
        raise UsageError("choose what to do: --out DIR, --report DIR, --sql QUERY or --watch; or --sbom FILE")
    if sbom is not None and (sql or watch):
        raise UsageError("--sbom goes with --out DIR or --report DIR, or stands alone")
    if report is not None:
        _report(report, output, sbom)
    elif sql is not None:
        _ask(sql, roots, output)
    elif watch:
        _watch(roots)
    else:
        _scan([*roots, *(f"@{path}" for path in targets)], out, output, sbom=sbom, **options)


def _scan(roots: list[str], out: str | None, output: Output, *, sbom: str | None, **options: Any) -> None:
    """Without a folder for them, the tables are dropped when the bill of materials is written."""
    from inspector.scanning.run import scan as run

    try:
        with (
            _progress_line() as progress,
            TemporaryDirectory(prefix="inspect-scan-") if out is None else nullcontext(out) as at,
        ):
            done = run(roots, at, progress=progress, sbom=sbom, **options)
    except KeyboardInterrupt:
        console.tell("interrupted" + (f": inspect scan --out {out} --resume continues it" if out else ""))
        raise click.exceptions.Exit(console.INTERRUPTED) from None
    if output.form == "json":
        console.print_json({"schema": "checkpoint-inspector/1", "target": out or sbom, **done.entry})
    else:
        from inspector.report import scan as text

        console.print_lines((text.done(done, out, sbom),))
    if done.broken or done.unreadable:
        raise click.exceptions.Exit(FINDINGS)


@contextmanager
def _progress_line() -> Iterator[Callable[[Progress], None]]:
    """Show progress in one line on stderr if it is a terminal, and once the address of Dask's dashboard."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from inspector.report import scan as text

    last, announced = 0.0, False

    def show(progress: Progress) -> None:
        nonlocal last, announced
        if not announced:
            page = progress.dashboard if find_spec("bokeh") else "needs bokeh: pip install bokeh"
            console.tell(f"Dask's dashboard: {page}")
            announced = True
        if monotonic() - last > 0.2:
            last = monotonic()
            line = text.progress(progress)[: (terminal.screen().width or 80) - 1]
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if announced:
            sys.stderr.write("\r\x1b[K")


def _report(folder: str, output: Output, sbom: str | None) -> None:
    from inspector import api
    from inspector.report import scan as text
    from inspector.report.sbom.writing import Writing
    from inspector.scanning.queries import report

    place = Path(folder).expanduser()
    bill = None if sbom is None else Writing(sbom)
    found = report(place, api.reconcile if find_spec("numpy") else None)
    if bill is not None:
        bill.write(place)
    if output.form == "json":
        console.print_json(text.document(found, folder))
    else:
        console.print_lines((text.lines(found, folder, output.width),), titled=True, wide=output.wide)
    output.write_page(lambda: text.page(found, folder))


def _ask(query: str, folders: tuple[str, ...], output: Output) -> None:
    from inspector.report import scan as text
    from inspector.scanning.queries import ask

    if len(folders) != 1:
        raise UsageError('--sql takes one folder of tables: inspect scan --sql "SELECT …" DIR')
    found = ask(Path(folders[0]).expanduser(), query)
    output.show(
        lambda: (text.rows(*found, output.width),),
        lambda: {"schema": "checkpoint-inspector/1", "target": folders[0], "rows": text.as_rows(found).rows},
        lambda: text.as_rows(found),
    )


def _list_queries(output: Output) -> None:
    from inspector.report import scan as text

    console.print_lines((text.queries(output.width),), wide=output.wide)


def _watch(folders: tuple[str, ...]) -> None:
    from inspector.report import audit as text
    from inspector.scanning.watching import watch

    if not folders:
        raise UsageError("name the folder to watch")
    with suppress(KeyboardInterrupt):
        for found in watch([Path(folder).expanduser() for folder in folders], ready=console.tell):
            terminal.write((text.line(found),), wide=True)
            sys.stdout.flush()
