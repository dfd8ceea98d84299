"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from inspector.cli.output import Output

#: Adds an option to a command.
Option = Callable[[Any], Any]


def opening_options(command: Any) -> Any:
    """Options of every command that opens a checkpoint."""
    return _with(_OPENING, command)


_OPENING = (
    click.option("--label", metavar="7B", help="The nominal size, instead of the one in the name."),
    click.option("--alone", is_flag=True, help="Inspect a shard by itself, not its whole set."),
    click.option("--include", metavar="GLOB", help="Which weight files, if the target holds several checkpoints."),
    click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository."),
    click.option(
        "--config",
        metavar="FILE",
        type=click.Path(),
        help="A config.json or params.json, or a folder with one, to use instead of the one beside the weights.",
    ),
)
#: For every command whose text fits the terminal's width.
WIDE = click.option("--wide", is_flag=True, help="Do not shorten lines to the terminal's width.")
#: For every command with a result worth sharing.
HTML = click.option("--html", type=click.Path(), metavar="FILE", help="Also write a self-contained HTML page.")
#: For the form of rows.
FORMS = (
    click.option("--csv", "forms", flag_value="csv", multiple=True, help="Comma-separated values."),
    click.option("--json", "forms", flag_value="json", multiple=True, help="One JSON object on stdout."),
    click.option("--jsonl", "forms", flag_value="jsonl", multiple=True, help="One JSON object per line."),
    click.option(
        "--format",
        "forms",
        metavar="NAME",
        multiple=True,
        help="A table as github, html, latex, … (tabulate's names).",
    ),
    click.option("--parquet", type=click.Path(), metavar="FILE", help="Write the rows to a Parquet file."),
)


def output_options(*options: Option) -> Option:
    """These options, which a command receives as one `output`."""

    def decorated(command: Any) -> Any:
        @wraps(command)
        def called(*, forms: tuple[str, ...], wide: bool, parquet: str | None, **rest: Any) -> Any:
            return command(output=Output(forms, parquet, rest.pop("html", None), wide), **rest)

        return _with(options, called)

    return decorated


def choosing_options(command: Any) -> Any:
    """A PATTERN of tensors' names and options that select tensors, which a command receives as `which`."""

    @wraps(command)
    def called(*, pattern: str | None, layers: str | None, **rest: Any) -> Any:
        from inspector.bridge.filters import Filter

        words = {name: rest.pop(name) for name in ("roles", "groups", "towers", "dtypes")}
        return command(which=Filter(pattern, layers=layers, **words), **rest)

    return _with(
        (
            click.argument("pattern", required=False),
            click.option("--role", "roles", multiple=True, metavar="WORD", help="Of this role; may be repeated."),
            click.option("--group", "groups", multiple=True, metavar="WORD", help="Of this group: attention, norm, …."),
            click.option("--tower", "towers", multiple=True, metavar="WORD", help="Of this tower: text, vision, …."),
            click.option("--dtype", "dtypes", multiple=True, metavar="WORD", help="Stored in this dtype."),
            click.option("--layer", "layers", metavar="3-7", help="Of these layers: 3, 3-7 or 0,2,4-6."),
        ),
        called,
    )


def _with(options: Sequence[Option], command: Any) -> Any:
    """A command with options in this order."""
    for option in reversed(options):
        command = option(command)
    return command
