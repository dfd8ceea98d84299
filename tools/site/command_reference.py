"""The reference of commands, from what click knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click

from inspector.cli.commands import inspect
from inspector.cli.shell import ENVIRONMENT, EXIT_CODES


def page() -> str:
    """A section for each command, with its help, arguments and options."""
    context = click.Context(inspect, info_name="inspect")
    parts = ["# Commands", "", "Made from the commands' own help.", inspect.epilog or "", ""]
    for name in inspect.list_commands(context):
        command = inspect.get_command(context, name)
        assert command is not None
        parts += _section(command, click.Context(command, info_name=name, parent=context))
    parts += ["## Exit codes", "", "| code | means |", "|--:|---|"]
    parts += [f"| {code} | {_cell(meaning)} |" for code, meaning in EXIT_CODES.items()]
    parts += ["", "## Environment", "", "| variable | says |", "|---|---|"]
    parts += [f"| `{names}` | {_cell(meaning)} |" for names, meaning in ENVIRONMENT.items()]
    return "\n".join(parts) + "\n"


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## inspect {context.info_name}"
    yield ""
    yield f"    inspect {context.info_name} {' '.join(command.collect_usage_pieces(context))}"
    yield ""
    yield from _prose(cleandoc(command.help or ""))
    records = [
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
    ]
    yield from ("| option | |", "|---|---|")
    yield from (f"| `{_cell(record[0])}` | {_cell(record[1])} |" for record in records if record)
    yield ""


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; one behind `\\b` keeps its lines."""
    for block in filter(None, (each.strip("\n") for each in text.split("\n\n"))):
        if block.startswith("\b"):
            yield from ("    " + line for line in block.removeprefix("\b").strip("\n").split("\n"))
        else:
            yield " ".join(block.split()).replace("*", r"\*").replace("<", "&lt;")
        yield ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")
