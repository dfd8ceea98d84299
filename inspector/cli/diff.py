"""`inspect diff`: two targets, compared by what their tensors are for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from inspector.cli import console
from inspector.cli.options import wide_option

if TYPE_CHECKING:
    from inspector.comparing.diff import Diff

DIFFERS = 1  # exit code
MOST_WORKERS = 4  # by default: more wait for the disk


@click.command(short_help="What changed between two checkpoints.")
@click.argument("a")
@click.argument("b")
@click.option("--stat", is_flag=True, help="Only sums by role.")
@click.option("--all", "everything", is_flag=True, help="List what is the same, too.")
@click.option("--data", is_flag=True, help="Compare the values of the tensors, too: reads all of both.")
@click.option("--by", type=click.Choice(("role", "layer", "tensor")), default="role", help="What a line is about.")
@click.option("--workers", type=click.IntRange(1, 256), help="Tensors whose values are read at once.")
@wide_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def diff(
    a: str, b: str, stat: bool, everything: bool, data: bool, by: str, workers: int | None, wide: bool, as_json: bool
) -> None:
    """What changed between two checkpoints, whatever their formats.

    A and B are any two targets: a GGUF against safetensors, packed weights against plain ones, a revision of a
    repository (org/name@revision) against another. Tensors are paired by what they are for, so names, order and
    files play no part. Only headers are read, but for --data. Exits with 1 where something differs.
    """
    from inspector import api
    from inspector.report import diff as report

    result = api.diff(a, b)
    if data:
        result = _with_values(result, workers)
    if as_json:
        console.print_json(report.document(result))
    else:
        console.print_lines(report.lines(result, stat=stat, everything=everything, by=by), wide=wide)
    if result.differs:
        raise click.exceptions.Exit(DIFFERS)


def _with_values(result: Diff, workers: int | None) -> Diff:
    """With a bar while the tensors are read."""
    from inspector import api

    total = sum(side.nbytes for pair in result.pairs if pair.a and pair.b for side in (pair.a, pair.b))
    with console.bytes_read(total, "values") as done:
        return api.with_values(result, workers or min(os.cpu_count() or 1, MOST_WORKERS), done)
