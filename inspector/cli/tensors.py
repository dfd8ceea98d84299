"""`inspect tensors` and `inspect values`: every tensor or a selection, and statistics of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console
from inspector.cli.options import FORMS, HTML, WIDE, choosing_options, opening_options, output_options
from inspector.cli.output import Output, print_json_lines

if TYPE_CHECKING:
    from inspector.bridge.filters import Filter

_SORTS: dict[str, Any] = {
    "file": lambda _: 0,
    "name": lambda each: each.tensor.name,
    "size": lambda each: -each.tensor.nbytes,
    "parameters": lambda each: -each.parameters,
    "dtype": lambda each: (each.tensor.dtype, each.tensor.name),
    "shape": lambda each: (each.tensor.shape, each.tensor.name),
    "offset": lambda each: (each.file, each.tensor.offset),
    "layer": lambda each: (-1 if each.key.layer is None else each.key.layer, each.tensor.name),
    "role": lambda each: (each.key.role, each.key.layer or 0),
}


@click.command(short_help="Every tensor, or a selection.")
@opening_options
@click.argument("target", type=click.Path())
@choosing_options
@click.option("--sort", type=click.Choice(list(_SORTS)), default="file", help="Order; by default the file's own.")
@click.option("--reverse", is_flag=True, help="Reverse the order.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N.")
@output_options(WIDE, *FORMS)
def tensors(
    target: str, which: Filter, sort: str, reverse: bool, limit: int | None, output: Output, **opening: Any
) -> None:
    """Every tensor: name, file, shape, dtype, bytes, offset and role.

    PATTERN is a glob over whole names ("*.q_proj.*"), a part of a name, a role, a group or a dtype.
    """
    from inspector.bridge.filters import select
    from inspector.report import documents, tables, text

    output.check()
    console.refuse_several(target, **opening)
    result = console.reconciled(target, **opening)
    found = select(result.tensors, which)
    if sort != "file":
        found.sort(key=_SORTS[sort])
    found = (found[::-1] if reverse else found)[:limit]
    output.show(
        lambda: text.tensors(found, output.width),
        lambda: {"schema": documents.SCHEMA, "target": target, "tensors": list(map(documents.tensor, found))},
        lambda: tables.Rows(tables.TENSORS, list(map(documents.tensor, found))),
    )


@click.command()
@opening_options
@click.argument("target", type=click.Path())
@choosing_options
@click.option(
    "--by", type=click.Choice(["tensor", "role", "layer"]), default="tensor", help="What each row summarizes."
)
@click.option("--full", is_flag=True, help="Each tensor, however many; of a single one its histogram.")
@click.option("--stored", is_flag=True, help="Packed weights as the integers stored in the file.")
@output_options(WIDE, HTML, *FORMS)
def values(target: str, which: Filter, by: Any, full: bool, stored: bool, output: Output, **opening: Any) -> None:
    """Statistics of tensors' values: NaN, infinity, zeros, extremes, mean, deviation, percentiles, a histogram.

    Reads the selected tensors: all of them, or those that match a PATTERN, as in `inspect tensors`.
    """
    from inspector.measuring import needs

    needs.check()
    output.check()
    from inspector.bridge.filters import select
    from inspector.measuring.values import values as measure
    from inspector.report import values as report

    console.refuse_several(target, **opening)
    result = console.reconciled(target, **opening)
    total = sum(each.tensor.nbytes for each in select(result.tensors, which))
    with console.bytes_read(total, target) as done:
        found = measure(result, which, by, done, stored=stored)
    for finding in found.findings:
        console.tell(f"{finding.path}: {finding.message}")
    output.write_page(lambda: report.page(found))
    if output.parquet:
        report.write_parquet(found, output.parquet)
    elif output.form == "jsonl":
        print_json_lines(map(report.row, found.rows))
    else:
        output.show(
            lambda: report.lines(found, output.width, full=full),
            lambda: report.document(found, target),
            lambda: report.rows(found),
        )
