"""The command line: each command parses, calls one library function, renders, exits.

Exit codes: 0 fine, 1 findings (audit), 2 unreadable or misused, 130 interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from inspector.cli import console, terminal
from inspector.cli.options import FORMS, HTML, WIDE, opening_options, output_options
from inspector.cli.output import Output
from inspector.errors import UsageError

DEFAULT = "overview"
#: Commands in their own modules, loaded on use.
ELSEWHERE = {
    **{
        name: f"inspector.cli.{name}"
        for name in ("audit", "browse", "diff", "learn", "mcp", "memory", "scan", "tensors")
    },
    "parents": "inspector.cli.diff",
    "quants": "inspector.cli.memory",
    "values": "inspector.cli.tensors",
}


def call(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. Raises InspectorError, and KeyboardInterrupt if a prompt is left."""
    arguments = _without_settings(_without_library(arguments))
    if "_INSPECT_COMPLETE" in os.environ:
        from inspector.cli import shell  # only a shell needs it, and it loads all commands

        shell.prepare(inspect)
    try:
        code = inspect.main(arguments, prog_name="inspect", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return console.UNREADABLE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "inspect"
        what = _unknown(error) if isinstance(error, click.NoSuchOption) else error.format_message().rstrip(".")
        raise UsageError(f"{what}; see `{path} --help`") from None
    return code if isinstance(code, int) else 0


def _unknown(error: click.NoSuchOption) -> str:
    """No option of this name, and the nearest one: of the command, or of every command."""
    from difflib import get_close_matches

    own = [name for each in error.ctx.command.params for name in each.opts] if error.ctx else []
    known = [*own, "--version", "--help", "--ask", *_SETTINGS]
    usual = [_OTHER_OPTIONS.get(error.option_name)]
    near = [each for each in usual if each in known] or get_close_matches(error.option_name, known, 1, 0.7)
    return f"no option {error.option_name!r}" + (f" (did you mean {near[0]}?)" if near else "")


#: What other tools call an option → what it is here.
_OTHER_OPTIONS = {
    **dict.fromkeys(("-v", "--verbose", "-a", "--all"), "--full"),
    **dict.fromkeys(("--vram", "--ram", "--memory"), "--gpu"),
    **dict.fromkeys(("-c", "--ctx-size", "--max-model-len"), "--context"),
    **dict.fromkeys(("-o", "--output", "--out"), "--html"),
    **dict.fromkeys(("--quant", "--quantization", "--load-in-4bit"), "--weights"),
    "-V": "--version",
}


def _without_library(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments without `--ask` and what goes with it: that library is asked."""
    if not any(each.partition("=")[0] in ("--ask", "--import", "--trust-remote-code") for each in arguments):
        return arguments
    from inspector.cli.learn import with_library

    return with_library(arguments)


def _without_settings(arguments: Sequence[str]) -> list[str]:
    """The arguments without those that any command accepts, which are applied: `--tables DIR` and `--color WHEN`."""
    terminal.set_colour(terminal.WHEN[0])
    left, rest = list[str](), iter(arguments)
    for word in rest:
        name, _, value = word.partition("=")
        if name not in _SETTINGS or "--" in left:
            left.append(word)
            continue
        needed, apply = _SETTINGS[name]
        value = value or next(rest, "")
        if not value:
            raise UsageError(f"{name} needs {needed}")
        apply(value)
    return left


def _add_tables(folder: str) -> None:
    from inspector.architectures import add_tables

    add_tables(folder)


def _set_colour(when: str) -> None:
    if when not in terminal.WHEN:
        raise UsageError(f"--color {when!r:.40}: {', '.join(terminal.WHEN[:-1])} or {terminal.WHEN[-1]}")
    terminal.set_colour(when)


#: Options of every command: what they need, and what applies them.
_SETTINGS = {"--tables": ("a folder", _add_tables), "--color": ("auto, always or never", _set_colour)}

#: Question → the commands that answer it, as `inspect --help` lists them. A command that is in none comes last.
QUESTIONS = {
    "What is in it, and where is every byte?": ("overview", "tensors", "metadata", "values", "browse"),
    "Is it whole, consistent and safe?": ("audit",),
    "Will it run, and which version fits?": ("memory", "quants"),
    "What changed, and where does it come from?": ("diff", "parents"),
    "What should be in it?": ("predict", "architectures", "learn"),
    "Thousands of them": ("scan",),
    "Setting up": ("mcp", "completion"),
}


_WIDEST = len("architectures")


class _DefaultGroup(click.Group):
    """A group whose first argument may be a target instead of a command."""

    def format_usage(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("inspect", "TARGET [OPTIONS]")
        formatter.write_usage("inspect", "COMMAND TARGET [OPTIONS]", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by question. The group's only option is `--help`, which the epilog has."""
        left = dict.fromkeys(self.list_commands(ctx))
        groups = {question: [name for name in names if name in left] for question, names in QUESTIONS.items()}
        others = [name for name in left if not any(name in names for names in groups.values())]
        for question, names in (*groups.items(), ("Other", others)):
            rows = [(self._usual(name), self._summary(ctx, name)) for name in names]
            if rows:
                formatter.write(f"\n{question}\n")
                with formatter.indentation():
                    formatter.write_dl([(name.ljust(_WIDEST), text) for name, text in rows])

    def _usual(self, name: str) -> str:
        return "TARGET" if name == DEFAULT else name

    def _summary(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        return command.get_short_help_str(limit=200)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        from importlib import import_module

        command: click.Command = getattr(import_module(ELSEWHERE[cmd_name]), cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Commands and, since the default command's name may be omitted, targets."""
        from inspector.cli.shell import OFFERED

        default = super().get_command(ctx, DEFAULT)
        assert default is not None
        if incomplete.startswith("-"):
            return [*default.shell_complete(click.Context(default, parent=ctx), incomplete)]
        found = [each for each in super().shell_complete(ctx, incomplete) if each.value != DEFAULT]
        return [*OFFERED["target"].shell_complete(ctx, default.params[0], incomplete), *found]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [arg for arg in args if not arg.startswith("-")]
        named = bool(words) and words[0] in self.list_commands(ctx) and args[0] == words[0]
        if args and args not in (["--help"], ["-h"]) and not named:
            if words[:1] == args[:1]:
                console.refuse_misspelt(words[0], self.list_commands(ctx))
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_DefaultGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`inspect COMMAND --help` explains a command, `--version` shows the version. Any command: `--color never` "
    "(always, auto); `--tables DIR` adds architectures; `--ask [PYTHON]` asks the Transformers or Diffusers installed "
    "there what should be in a model. The command is also `checkpoint-inspect`, since others have an `inspect`. "
    "Nothing is sent anywhere but requests for the files of a TARGET that is not on this machine.",
    invoke_without_command=True,
    no_args_is_help=True,
)
def inspect() -> None:
    """What is in a model's weight files, and where every byte went: from their headers, without loading a tensor.

    Type first:

    \b
    inspect model.gguf                 a file, or the folder of a model
    inspect org/name:Q4_K_M            a repository: headers alone, no download
    inspect ~/.cache/huggingface/hub   which models are on this machine
    inspect predict llama-7b           no file at hand: from a configuration
    inspect memory model --gpu 8GB     will it run, how long a context fits
    inspect audit ~/Downloads          is it whole, consistent, safe?

    TARGET is a weight file, one of its shards (which stands for all of them), a folder, an index, a config.json; a Hub
    repository org/name[@revision][/path] or org/name:Q4_K_M; ollama:NAME[:TAG]; the URL of a file, or s3://, gs://,
    az://. A path that exists is local; hf://org/name is always on the Hub.
    """


@inspect.command(DEFAULT, short_help="What is in it, what should be, and why the two differ.")
@opening_options
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...", type=click.Path())
@click.option("--full", is_flag=True, help="Show every role, count, claim and file, to the byte.")
@click.option("--layers", is_flag=True, help="Show each layer's bytes and types, and where layers differ.")
@click.option("--tensors", is_flag=True, help="List every tensor too.")
@click.option("--notes", is_flag=True, help="Show findings that need no action, too.")
@output_options(WIDE, HTML, *FORMS)
def overview(
    targets: tuple[str, ...], full: bool, layers: bool, tensors: bool, notes: bool, output: Output, **opening: Any
) -> int:
    """What is in it, what should be in it, and why the two differ. This is the default command.

    With --csv, --jsonl, --parquet or --format there is one row per role; with --layers per layer, with --tensors per
    tensor, and for a folder of models per model.
    """
    from inspector.cli import overviews

    if output.html is not None and len(targets) > 1:
        raise UsageError("--html writes a page about one target: name exactly one")
    output.check()
    shown = overviews.Shown(layers, tensors, notes, full)
    if len(targets) == 1:
        overviews.overview(targets[0], shown, output, **opening)
        return 0
    return overviews.overviews(targets, shown, output, **opening)


@inspect.command(short_help="What its configuration says should be in it, with formulas.")
@click.argument("config")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@click.option("--training", is_flag=True, help="Add gradients and Adam's state.")
@click.option("--label", metavar="N", help="A stated parameter count: find out what it omits.")
@click.option("--tensors", is_flag=True, help="List every tensor too.")
@click.option("--full", is_flag=True, help="Every role, bytes to the unit, the rule of thumb.")
@output_options(WIDE, HTML, *FORMS)
def predict(
    config: str, revision: str | None, training: bool, label: str | None, tensors: bool, full: bool, output: Output
) -> None:
    """What should be in a checkpoint, from its configuration alone, with formulas.

    CONFIG is a config.json, Meta's params.json, a folder, repository or GGUF file that has one, or a preset such as
    llama-7b or gpt2.
    """
    from inspector import api
    from inspector.bridge import labels
    from inspector.cli.overviews import show_prediction

    output.check()
    result = api.predict(config, revision=revision)
    stated = labels.from_text(label, 16).parameters if label else None
    show_prediction(result, output, tensors=tensors, training=training, stated=stated, full=full)


@inspect.command(short_help="The supported model types and roles.")
@click.option("--roles", is_flag=True, help="List roles instead: the purposes of tensors, by group.")
@output_options(WIDE, *FORMS)
@click.argument("pattern", required=False)
def architectures(pattern: str | None, roles: bool, output: Output) -> None:
    """The model types that have a table, how far each is covered, and GGUF architectures. PATTERN is part of a name."""
    from inspector import architectures as known
    from inspector.report import architectures as report

    part = pattern or ""
    output.check()
    if roles:
        output.show(lambda: report.role_lines(part), lambda: report.role_document(part), lambda: report.role_rows(part))
        return
    chosen = [each for each in known.listed() if part in each.model_type]
    gguf = [each for each in known.listed_gguf() if part in each.architecture or part in (each.model_type or "")]
    output.show(lambda: report.lines(chosen, gguf), lambda: report.document(chosen, gguf), lambda: report.rows(chosen))


@inspect.command(short_help="The script that completes commands and names in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands, options, files and cached models in a SHELL.

    \b
    bash:  echo 'eval "$(inspect completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(inspect completion zsh)"' >> ~/.zshrc
    fish:  inspect completion fish > ~/.config/fish/completions/inspect.fish
    """
    from inspector.cli.shell import script

    click.echo(script(shell, inspect))


@inspect.command(short_help="What the files say about themselves: key-values, claims.")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@click.option("--include", metavar="GLOB", help="Which weight files, if the target holds several checkpoints.")
@click.argument("target")
@click.argument("key", required=False)
@output_options(*FORMS, WIDE)
def metadata(target: str, key: str | None, revision: str | None, include: str | None, output: Output) -> None:
    """What the files say about themselves: GGUF's key-values, or safetensors' __metadata__.

    Long arrays are shown as their length and first items. With KEY, only that value, in full; a glob ("general.*")
    lists the matching keys.
    """
    from inspector import api
    from inspector.opening import metadata as found
    from inspector.report import metadata as report

    output.check()
    console.refuse_several(target, include=include)
    with console.progress() as progress:
        checkpoint = api.open(target, revision=revision, include=include, progress=progress)
    entries = found.metadata(checkpoint, key)
    whole = key is not None and not (found.is_glob(key) and any(each.key != key for each in entries))
    output._replace(wide=output.wide or whole).show(
        lambda: report.values(entries) if whole else report.lines(entries),
        lambda: report.document(checkpoint, entries, whole=whole),
        lambda: report.rows(report.document(checkpoint, entries, whole=whole)),
    )
