"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from inspector.errors import UsageError


def opening_options(command: Any) -> Any:
    """Options of every command that opens a checkpoint."""
    for option in (
        click.option(
            "--config",
            metavar="FILE",
            type=click.Path(),
            help="A config.json or params.json, or a folder with one, to use instead of the one beside the weights.",
        ),
        click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository."),
        click.option("--include", metavar="GLOB", help="Which weight files, if the target holds several checkpoints."),
        click.option("--alone", is_flag=True, help="Inspect a shard by itself, not its whole set."),
        click.option("--label", metavar="7B", help="The nominal size, instead of the one in the name."),
    ):
        command = option(command)
    return command


#: For every command whose text fits the terminal's width.
wide_option = click.option("--wide", is_flag=True, help="Do not shorten lines to the terminal's width.")

#: For every command with a result worth sharing.
html_option = click.option("--html", type=click.Path(), metavar="FILE", help="Also write a self-contained HTML page.")


def choosing_options(command: Any) -> Any:
    """Options that select tensors, in addition to the PATTERN of their names."""
    for option in (
        click.option("--layer", "layers", metavar="3-7", help="Of these layers: 3, 3-7 or 0,2,4-6."),
        click.option("--dtype", "dtypes", multiple=True, metavar="WORD", help="Stored in this dtype."),
        click.option("--tower", "towers", multiple=True, metavar="WORD", help="Of this tower: text, vision, …."),
        click.option("--group", "groups", multiple=True, metavar="WORD", help="Of this group: attention, norm, …."),
        click.option("--role", "roles", multiple=True, metavar="WORD", help="Of this role; may be repeated."),
    ):
        command = option(command)
    return command


def form_options(command: Any) -> Any:
    """Options for the form of rows."""
    for option in (
        click.option("--parquet", type=click.Path(), metavar="FILE", help="Write the rows to a Parquet file."),
        click.option(
            "--format",
            "forms",
            metavar="NAME",
            multiple=True,
            help="A table as github, html, latex, … (tabulate's names).",
        ),
        click.option("--jsonl", "forms", flag_value="jsonl", multiple=True, help="One JSON object per line."),
        click.option("--json", "forms", flag_value="json", multiple=True, help="One JSON object on stdout."),
        click.option("--csv", "forms", flag_value="csv", multiple=True, help="Comma-separated values."),
    ):
        command = option(command)
    return command


def one_form(forms: Sequence[str]) -> str | None:
    """The one requested output; None for text. Raises UsageError for two."""
    if len(set(forms)) > 1:
        raise UsageError(f"only one output at a time: {' and '.join(forms)} were given")
    return forms[0] if forms else None
