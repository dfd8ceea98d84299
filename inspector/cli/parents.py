"""`inspect parents`: which of some models a model was made from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from inspector.cli import console
from inspector.cli.diff import ALONE
from inspector.cli.options import FORMS, WIDE, output_options
from inspector.cli.output import Output


@click.command(short_help="Which of these a model was made from, and how.")
@click.argument("target")
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATE… | FOLDER")
@output_options(WIDE, *FORMS)
def parents(target: str, candidates: tuple[str, ...], output: Output) -> None:
    """Which of some models a model was made from, and how: rounded, fine-tuned, merged, cut, ….

    Candidates are any targets; a folder stands for all models in it. Headers are compared first, then samples of
    values, and the best candidate whole, as `inspect diff --data` does. Two parents are found together. Exits with 0 if
    one of them is related, with 1 if none is.
    """
    os.environ.update({name: value for name, value in ALONE.items() if name not in os.environ})
    from inspector import api
    from inspector.report import parents as report

    output.check()
    names = list(dict.fromkeys(each for word in candidates for each in _expanded(word)))
    with console.progress("models") as update:
        result = api.parents(target, names, done=update)
    output.show(
        lambda: report.lines(result, output.width), lambda: report.document(result), lambda: report.rows(result)
    )
    if not result.candidates or not result.candidates[0].score:
        raise click.exceptions.Exit(1)


def _expanded(word: str) -> Iterator[str]:
    """A candidate, or those in a folder of several, also where each is in a folder of its own."""
    from inspector.opening.named import models_at

    found = models_at(word) if Path(word).expanduser().is_dir() else ()
    yield from (each.target for each in found if not each.foreign)
    if not found:
        yield word
