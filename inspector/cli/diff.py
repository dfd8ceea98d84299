"""`inspect diff`: two targets, compared by what their tensors are for."""

from __future__ import annotations

import click

from inspector.cli import console

DIFFERS = 1  # exit code


@click.command(short_help="What changed between two checkpoints.")
@click.argument("a")
@click.argument("b")
@click.option("--stat", is_flag=True, help="Only sums by role.")
@click.option("--all", "everything", is_flag=True, help="List what is the same, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def diff(a: str, b: str, stat: bool, everything: bool, as_json: bool) -> None:
    """What changed between two checkpoints, whatever their formats.

    A and B are any two targets: a GGUF against safetensors, packed weights against plain ones, a revision of a
    repository (org/name@revision) against another. Tensors are paired by what they are for, so names, order and
    files play no part. Only headers are read. Exits with 1 where something differs.
    """
    from inspector import api
    from inspector.report import diff as report

    result = api.diff(a, b)
    if as_json:
        console.print_json(report.document(result))
    else:
        console.print_lines(report.lines(result, stat=stat, everything=everything))
    if result.differs:
        raise click.exceptions.Exit(DIFFERS)
