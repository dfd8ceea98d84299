"""`inspect learn`, and `--ask`, which any command accepts: the library that defines a model says how it builds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from inspector.cli.options import FORMS, WIDE, output_options
from inspector.cli.output import Output
from inspector.errors import UsageError


@click.command(short_help="Ask the installed library for a model type, and keep the table.")
@click.argument("config", metavar="TYPE|CONFIG")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@output_options(WIDE, *FORMS)
def learn(config: str, revision: str | None, output: Output) -> None:
    """Ask Transformers or Diffusers how it builds a model, and keep the answer as a table.

    TYPE is a model type, CONFIG a config.json, or a folder or repository that has one. `--ask PYTHON` names the
    environment with the library, by default that of this command. It runs in a process of its own, without a network,
    and without the code beside a model unless `--trust-remote-code` is typed.
    """
    from inspector import api
    from inspector.report import forecast, notebook

    output.check()
    learned = api.learn(config, revision=revision)
    output.show(
        lambda: (forecast.learned(learned.prediction, str(learned.path), learned.free, output.width),),
        lambda: forecast.document(learned.prediction) | {"kept": str(learned.path), "free": list(learned.free)},
        lambda: notebook.rows(learned.prediction),
    )


def with_library(arguments: Sequence[str]) -> list[str]:
    """The arguments without `--ask [PYTHON]` and what goes with it, which any command accepts; asks that library."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    words = [word.partition("=")[0] for word in arguments[:end]]
    if not any(word in words for word in ("--ask", "--import", "--trust-remote-code")):
        return list(arguments)
    from inspector import architectures
    from inspector.architectures.asking import Library, python_of

    left, python, modules = _asking(list(arguments[:end]))
    if not all(modules):
        raise UsageError("--import needs the name of a package")
    if "--ask" not in words and left[:1] != ["learn"]:
        raise UsageError("--import and --trust-remote-code go with --ask")
    if left[:1] == ["scan"]:
        raise UsageError("a scan asks no library: `inspect learn TYPE` does so beforehand")
    folder = _folder_of(left) if "--trust-remote-code" in words else None
    architectures.ask(Library(python_of(python), tuple(modules), folder))
    return [*left, *arguments[end:]]


def _asking(words: list[str]) -> tuple[list[str], str | None, list[str]]:
    """The words that belong to the command, the Python that is asked, and the packages to import there."""
    from inspector.architectures.asking import names_python

    left, python, modules = list[str](), None, list[str]()
    while words:
        word = words.pop(0)
        name, _, given = word.partition("=")
        if name == "--ask":
            python = given or (words.pop(0) if words and names_python(words[0]) else python)
        elif name == "--import":
            modules.append(given or (words.pop(0) if words else ""))
        elif word != "--trust-remote-code":
            left.append(word)
    return left, python, modules


def _folder_of(words: Sequence[str]) -> str:
    """The folder with the configuration that is named on a command line. Raises UsageError if there is none."""
    for path in map(Path, words):
        folder = path if path.is_dir() else path.parent
        if path.exists() and (folder / "config.json").is_file():
            return str(folder.resolve())
    raise UsageError("--trust-remote-code: no folder on this machine with a config.json is named")
