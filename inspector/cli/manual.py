"""The manual page `inspect(1)`, made from the commands' own help. A wheel installs it under share/man."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from inspector import __version__
from inspector.cli.commands import inspect

EXIT_CODES = {
    0: "Fine.",
    1: "audit found something, diff found a difference, or memory --fits found that the model does not fit.",
    2: "Something cannot be read, or the command line is invalid.",
    130: "Interrupted.",
}
ENVIRONMENT = {
    "HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE": "The Hub: its address, the user's token, and whether it may be used.",
    "HF_HOME, HF_HUB_CACHE": "Where the Hub's cache is.",
    "OLLAMA_MODELS": "Where Ollama's store is; by default ~/.ollama/models.",
    "NO_COLOR, FORCE_COLOR, TERM": "Whether output has colours.",
    "COLUMNS": "How wide a terminal is.",
    "INSPECT_DEBUG": "Show where an internal error comes from.",
}


def page() -> str:
    """The page in roff, for `man`."""
    return "\n".join((*_head(), *_commands(), *_tail())) + "\n"


def _head() -> Iterator[str]:
    first, _, rest = cleandoc(inspect.help or "").partition("\n\n")
    yield f'.TH INSPECT 1 "" "checkpoint-inspector {_roff(__version__)}" "User Commands"'
    yield from (".SH NAME", f"inspect \\- {_roff(first[0].lower() + first[1:].rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B inspect", r"[\fIOPTIONS\fR] \fITARGET\fR...", ".br")
    yield from (".B inspect", r"\fICOMMAND\fR [\fIOPTIONS\fR] \fIARGUMENTS\fR...")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(rest)
    yield from _paragraphs(inspect.epilog or "")


def _commands() -> Iterator[str]:
    yield ".SH COMMANDS"
    context = click.Context(inspect, info_name="inspect")
    for name in inspect.list_commands(context):
        command = inspect.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context)
        pieces = " ".join(command.collect_usage_pieces(own))
        yield from (".SS", f"inspect {_roff(name)} {_roff(pieces)}")
        yield from _paragraphs(cleandoc(command.help or ""))
        for parameter in command.get_params(own):
            record = parameter.get_help_record(own) if isinstance(parameter, click.Option) else None
            if record:
                yield from (".TP", rf"\fB{_roff(record[0])}\fR", _roff(record[1]))


def _tail() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", f".B {code}", _roff(meaning))
    yield ".SH ENVIRONMENT"
    for names, meaning in ENVIRONMENT.items():
        yield from (".TP", f".B {_roff(names)}", _roff(meaning))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a command's help; one after `\\b` keeps its line breaks."""
    for block in filter(None, (each.strip("\n") for each in text.split("\n\n"))):
        if block.startswith("\b"):
            yield from (
                ".PP",
                ".nf",
                *(_roff(line) for line in block.removeprefix("\b").strip("\n").split("\n")),
                ".fi",
            )
        else:
            yield from (".PP", _roff(" ".join(block.split())))


def _roff(text: str) -> str:
    """Text with roff's commands escaped."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)
