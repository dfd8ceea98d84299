"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from inspector.errors import UsageError


def opening_options(command: Any) -> Any:
    """How every command that reads a checkpoint finds it."""
    for option in (
        click.option(
            "--config",
            metavar="FILE",
            type=click.Path(),
            help="A config.json or params.json, or a folder that has one, in place of the one beside the weights.",
        ),
        click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository."),
        click.option(
            "--include", metavar="GLOB", help="Which weight files, where the target holds several checkpoints."
        ),
        click.option("--alone", is_flag=True, help="A shard by itself, and not the set of which it is one."),
        click.option("--label", metavar="7B", help="The size that people say, in place of the one in the name."),
    ):
        command = option(command)
    return command


def one_form(forms: Sequence[str]) -> str | None:
    """The one output that was asked for; None for text. Raises UsageError for two."""
    if len(set(forms)) > 1:
        raise UsageError(f"one output at a time: {' and '.join(forms)} were asked for")
    return forms[0] if forms else None
