"""`inspect browse`: a checkpoint, or the comparison of two, as a tree in the terminal."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import opening_options
from inspector.errors import FormatError, TargetError, UsageError, install_command

if TYPE_CHECKING:
    from inspector.browsing.contents import Content
    from inspector.comparing.diff import Diff
    from inspector.comparing.pairing import Pair
    from inspector.model import Checkpoint, Labelled, Reconciliation

Progress = Callable[[int, int], None]


@click.command(short_help="The tensors as a tree; of two targets, the differences.")
@opening_options
@click.argument("targets", nargs=-1, required=True, metavar="TARGET [TARGET]", type=click.Path())
def browse(targets: tuple[str, ...], **opening: Any) -> int:
    """Browse a checkpoint in the terminal: by role or by layer, with search and details of each tensor.

    With two targets, the tree shows their differences, with tensors paired as by `inspect diff`; for an adapter and its
    base, the weights that the adapter changes.

    \b
    up, down, left, right   move, close and open
    /                       search: part of a name, a role, a dtype, "layer 3"
    l                       by role, or by layer
    v                       read the tensor's values, or compare two
    d                       with two targets: show unchanged tensors, too
    tab                     move to the details, to scroll them
    q                       quit
    """
    if len(targets) > 2:
        raise click.UsageError("browse takes one target, or two to compare; for three use `inspect diff BASE A B`")
    if not is_terminal():
        raise UsageError(
            "browse needs a terminal; `inspect TARGET` and `inspect tensors TARGET` print the same information"
        )
    check()
    from inspector.browsing.app import Browser  # 0.2 s

    app = Browser(partial(_permanent_content, targets, opening), " → ".join(targets))
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.return_code:
        raise UsageError("the terminal cannot be used")
    return 0


def is_terminal() -> bool:
    """Whether there is a keyboard and a screen."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def check() -> None:
    """Raises UsageError, with the remedy, if Textual is not installed."""
    from importlib.util import find_spec

    if find_spec("textual") is None:
        raise UsageError(f"browsing needs Textual: `{install_command('browse')}`")


def _permanent_content(targets: tuple[str, ...], opening: dict[str, Any], progress: Progress) -> Content:
    """The content, exempt from garbage collection for the rest of the process: what was read is never garbage, and
    searching it takes long."""
    content = loaded(targets, opening, progress)
    gc.freeze()
    gc.enable()
    return content


def loaded(targets: tuple[str, ...], opening: dict[str, Any], progress: Progress) -> Content:
    """The content of the targets."""
    if len(targets) == 1:
        return _opened(targets[0], opening, progress)
    from inspector import api
    from inspector.browsing.pairs import Pairs

    a, b = (_reconciled(target, opening, progress) for target in targets)
    if (a.adapter is None) != (b.adapter is None):
        from inspector.browsing.pairs import Adapter

        return Adapter(api.attachment(*((a, b) if a.adapter is None else (b, a))))
    result = api.diff(a, b)
    return Pairs(result, partial(_compared, result))


def _opened(target: str, opening: dict[str, Any], progress: Progress) -> Content:
    """One target: a checkpoint, a lone index or a folder of models, opened as the overview does."""
    from inspector.browsing.tensors import Tensors

    picked = any(opening.values())
    try:
        result = _reconciled(target, opening, progress)
    except (TargetError, FormatError):
        content = None if picked else _names(target) or _models(target, opening)
        if content is None:
            raise
        return content
    several = _models(target, opening) if not picked and result.checkpoint.origin.kind != "hub" else None
    return several or Tensors(result, partial(_values, result))


def _names(target: str) -> Content | None:
    if not target.endswith(".index.json"):
        return None
    from inspector import api
    from inspector.browsing.contents import Names

    return Names(target, api.outline(target).tensors)


def _models(target: str, opening: dict[str, Any]) -> Content | None:
    path = Path(target).expanduser()
    if not path.is_dir():
        return None
    from inspector.browsing.contents import Models
    from inspector.opening.named import unrelated_at

    found = [(each.name, each.target) for each in unrelated_at(path)]
    return Models(target, found, lambda chosen: partial(loaded, (chosen,), opening)) if found else None


def _reconciled(target: str, opening: dict[str, Any], progress: Progress) -> Reconciliation:
    from inspector import api

    others = {name: value for name, value in opening.items() if name != "label"}
    checkpoint: Checkpoint = api.open(target, progress=progress, **others)
    return api.reconcile(checkpoint, opening.get("label"))


def _values(result: Reconciliation, each: Labelled, width: int) -> list[str]:
    """Statistics of one tensor's values."""
    from inspector.measuring import needs

    needs.check()
    from inspector import api
    from inspector.report import values as report

    found = api.values(result._replace(model=result.model._replace(tensors=(each,))))
    return list(report.lines(found, width, full=True))


def _compared(result: Diff, pair: Pair) -> list[str]:
    """A comparison of the values of one pair."""
    from inspector import api
    from inspector.report.diff import compared

    found = api.with_values(replace(result, pairs=(pair,)))
    data = found.data[0] if found.data else None
    return ["only one side has this tensor" if data is None else compared([(pair, data)])]
