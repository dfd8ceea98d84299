"""What a shell needs of the commands: completion of targets and options, and the manual page `inspect(1)`.

eval "$(inspect completion bash)"        in ~/.bashrc; similarly for zsh and fish

Click generates the scripts. A wheel installs the page, made from the commands' own help, under share/man.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import cleandoc
from itertools import islice

import click
from click.shell_completion import CompletionItem, get_completion_class

from inspector.version import __version__

VARIABLE = "_INSPECT_COMPLETE"
#: The most names of one kind that are offered.
MOST = 200

Names = Callable[[], Iterable[str]]


class Known(click.ParamType[str]):
    """A value with suggested names; others are allowed."""

    name = "text"

    def __init__(self, names: Names, *, files: bool = False) -> None:
        """
        Args:
            files: whether to offer file names too.
        """
        self._names, self._files = names, files

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  click's signature
        items = [CompletionItem(incomplete, type="file")] if self._files else []
        found = (name for name in self._names() if name.lower().startswith(incomplete.lower()))
        return [*items, *map(CompletionItem, islice(found, MOST))]


def script(shell: str, group: click.Group) -> str:
    """The script that a shell evaluates to complete `inspect`."""
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(group, {}, "inspect", VARIABLE).source()


# --- names ----------------------------------------------------------------------------------------


def targets() -> Iterable[str]:
    """Repositories in the Hub's cache, and Ollama's models."""
    yield from cached()
    yield from ollama()


def cached() -> Iterable[str]:
    """Ids of the repositories in the Hub's cache."""
    from inspector.sources.hub_cache import folder

    try:
        names = sorted(each.name for each in folder().iterdir() if each.name.startswith("models--"))
    except OSError:
        return []
    return [name.removeprefix("models--").replace("--", "/") for name in names]


def ollama() -> Iterable[str]:
    """`ollama:NAME:TAG` of the models in Ollama's store."""
    from inspector.sources.ollama import PREFIX, candidates, models

    for store in candidates():
        yield from (PREFIX + name for name, _ in models(store))


def presets() -> Iterable[str]:
    from inspector.architectures.data.presets import PRESETS

    return PRESETS


def roles() -> Iterable[str]:
    from inspector.architectures.data.roles import ROLES

    return ROLES


def groups() -> Iterable[str]:
    from inspector.architectures.data.roles import ROLES

    return dict.fromkeys(ROLES.values())


def gpus() -> Iterable[str]:
    from inspector.sizing.devices import DEVICES

    return DEVICES


def rules() -> Iterable[str]:
    from inspector.auditing.catalogue import all_rules

    return all_rules()


def formats() -> Iterable[str]:
    from tabulate import tabulate_formats

    return list(tabulate_formats)


def engines() -> Iterable[str]:
    from inspector.sizing.engines import ENGINES

    return ENGINES


def weight_types() -> Iterable[str]:
    """GGUF's types and the usual dtypes, as files write them."""
    from inspector.formats.ggml import TYPES  # built from the `gguf` package's table

    return ("BF16", "F16", "F32", "F8_E4M3", "I8", "I32", "U8", *(each.name for each in TYPES.values()))


#: Parameter of a command → its possible values. For parameters not listed here, click knows the values or there are
#: none.
OFFERED: Mapping[str, Known] = {
    **dict.fromkeys(("target", "targets", "a", "b", "more"), Known(targets, files=True)),
    "config": Known(presets, files=True),
    "roles": Known(roles),
    "groups": Known(groups),
    "towers": Known(lambda: ("text", "vision", "audio", "encoder", "decoder", "projector")),
    "dtypes": Known(weight_types),
    "gpu": Known(gpus),
    "engine": Known(engines),
    "ignore": Known(rules),
    "forms": Known(formats),
    "optimizer": Known(lambda: ("adamw", "adamw-8bit", "adafactor", "sgd", "muon")),
    "precision": Known(lambda: ("mixed", "bf16", "fp32")),
    "method": Known(lambda: ("full", "lora", "qlora")),
    "hub": Known(cached),
    "manifest": Known(lambda: (), files=True),
    "write_manifest": Known(lambda: (), files=True),
}


def prepare(group: click.Group) -> None:
    """Make every command complete its parameters. Only for a shell that asks: it loads all commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        for parameter in command.params if command else ():
            is_flag = isinstance(parameter, click.Option) and parameter.is_flag
            known = OFFERED.get(parameter.name or "")
            if known and not is_flag and not isinstance(parameter.type, click.Choice):
                parameter.type = known


# --- the manual page -----------------------------------------------------------------------------

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
    "NO_COLOR, FORCE_COLOR, TERM": "Whether output has colours, unless --color says so.",
    "COLUMNS": "How wide a terminal is.",
    "INSPECT_DEBUG": "Show where an internal error comes from.",
}


def page(group: click.Group) -> str:
    """The page in roff, for `man`."""
    return "\n".join((*_head(group), *_commands(group), *_tail())) + "\n"


def _head(group: click.Group) -> Iterator[str]:
    first, _, rest = cleandoc(group.help or "").partition("\n\n")
    yield f'.TH INSPECT 1 "" "checkpoint-inspector {_roff(__version__)}" "User Commands"'
    yield from (".SH NAME", f"inspect \\- {_roff(first[0].lower() + first[1:].rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B inspect", r"[\fIOPTIONS\fR] \fITARGET\fR...", ".br")
    yield from (".B inspect", r"\fICOMMAND\fR [\fIOPTIONS\fR] \fIARGUMENTS\fR...")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(rest)
    yield from _paragraphs(group.epilog or "")


def _commands(group: click.Group) -> Iterator[str]:
    yield ".SH COMMANDS"
    context = click.Context(group, info_name="inspect")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
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
