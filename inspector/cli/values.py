"""`inspect values`: statistics of tensors' values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console, terminal
from inspector.cli import forms as rows
from inspector.cli.options import choosing_options, form_options, html_option, opening_options, wide_option

if TYPE_CHECKING:
    from inspector.measuring.values import Values


@click.command()
@opening_options
@click.argument("target", type=click.Path())
@click.argument("pattern", required=False)
@choosing_options
@click.option(
    "--by", type=click.Choice(["tensor", "role", "layer"]), default="tensor", help="What each row summarizes."
)
@click.option("--stored", is_flag=True, help="Packed weights as the integers stored in the file.")
@wide_option
@html_option
@form_options
def values(
    target: str,
    pattern: str | None,
    roles: tuple[str, ...],
    groups: tuple[str, ...],
    towers: tuple[str, ...],
    dtypes: tuple[str, ...],
    layers: str | None,
    by: Any,
    stored: bool,
    wide: bool,
    html: str | None,
    forms: tuple[str, ...],
    parquet: str | None,
    **opening: Any,
) -> None:
    """Statistics of tensors' values: NaN, infinity, zeros, extremes, mean, deviation, percentiles, a histogram.

    Reads the selected tensors: all of them, or those that match a PATTERN, as in `inspect tensors`.
    """
    from inspector.cli import pages
    from inspector.measuring import needs

    needs.check()
    pages.check(html)
    from inspector.bridge.filters import Filter, select
    from inspector.measuring.values import values as measure

    form = rows.asked(forms, parquet)
    asked = Filter(pattern, roles, groups, towers, dtypes, layers)
    result = console.reconciled(target, **opening)
    total = sum(each.tensor.nbytes for each in select(result.tensors, asked))
    with console.bytes_read(total, target) as done:
        found = measure(result, asked, by, done, stored=stored)
    for finding in found.findings:
        console.tell(f"{finding.path}: {finding.message}")
    if html is not None:
        from inspector.report import values as report

        pages.write(html, report.page(found))
    if parquet:
        from inspector.report.values import write_parquet

        write_parquet(found, parquet)
    else:
        _show(found, target, form, terminal.screen(wide=wide).width)


def _show(found: Values, target: str, form: str | None, width: int | None) -> None:
    from inspector.report import values as report

    if form == "json":
        console.print_json(report.document(found, target))
    elif form == "jsonl":
        import json
        import sys

        with console.reader_may_leave():
            sys.stdout.writelines(f"{json.dumps(report.row(each))}\n" for each in found.rows)
    elif form:
        rows.show(report.rows(found), form, None)
    else:
        console.print_lines(report.lines(found, width), wide=width is None)
