"""What the command does around its options: errors as one line each, exit codes, output, and the overview."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.cli import terminal
from inspector.errors import FormatError, InspectorError, TargetError
from inspector.units import escape

if TYPE_CHECKING:
    from inspector.model import Reconciliation

UNREADABLE = 2
INTERRUPTED = 130
#: What writing to a full or broken device raises. Files that are read have errors of their own.
OUTPUT_FAILS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def guarded(command: Callable[[], int]) -> int:
    """Run a command; its exit code. Errors are one line on stderr, never a traceback."""
    # A command is short, and makes few cycles: collecting them would go over a million tuples for nothing.
    gc.disable()
    # None where whoever called us has closed it.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    try:
        code = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # The reader of our output has gone, as `| head` does: nothing is left to be told. Click, where it
        # sees that first, exits; it does so for nothing else.
        _drop_output()
        return 0
    except InspectorError as error:
        return _fail(str(error))
    except RecursionError:
        return _fail("something in the input is nested too deep")
    except MemoryError:
        return _fail("not enough memory for this input")
    except Exception as error:
        return _unforeseen(error)
    return code


def _unforeseen(error: Exception) -> int:
    """An output that cannot be written, or what should not happen: one line. INSPECT_DEBUG raises the latter."""
    if isinstance(error, OSError) and error.errno in OUTPUT_FAILS:
        _drop_output()
        return _fail(f"the output cannot be written: {error.strerror}")
    if os.environ.get("INSPECT_DEBUG"):
        raise error
    what = f"{type(error).__name__}: {str(error)[:200]}"
    return _fail(f"an error of this program's own, {what}; INSPECT_DEBUG=1 shows where")


def _drop_output() -> None:
    """Let what is buffered go nowhere: Python would try to write it when it ends, and fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Output whose reader may go away, as `| head` does, without a say in the exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()


def tell(message: str) -> None:
    """One line on stderr."""
    print(f"inspect: {escape(message)}", file=sys.stderr)


def _fail(message: str, code: int = UNREADABLE) -> int:
    tell(message)
    return code


class Shown(NamedTuple):
    """What an overview shows, and how."""

    layers: bool = False
    tensors: bool = False
    notes: bool = False
    wide: bool = False
    as_json: bool = False
    html: str | None = None  # a page beside it


PLAIN = Shown()


def overview(target: str, shown: Shown = PLAIN, **opening: Any) -> None:
    """Show what is in a checkpoint, what should be in it, and why the two differ; of unrelated models, a table."""
    picked = any(opening.values())
    try:
        result = reconciled(target, **opening)
    except (TargetError, FormatError):
        if picked or not (_outline(target, shown) or _list_models(target, shown)):
            raise
        return
    if not picked and result.checkpoint.may_be_several and _list_models(target, shown, result):
        return
    if shown.as_json:
        print_json(_document(result, shown))
    else:
        _show(result, shown)
    if shown.html is not None:
        from inspector.cli import pages

        pages.write_overview(shown.html, result)


def _outline(target: str, shown: Shown) -> bool:
    """What an index tells whose files are not there; False for what is none."""
    if not target.endswith(".index.json"):
        return False
    from inspector import api
    from inspector.report import outline as report

    found = api.outline(target)
    if shown.as_json:
        print_json(report.document(target, found))
    else:
        screen = terminal.screen(wide=shown.wide)
        print_lines((report.lines(target, found, screen.width),), colour=screen.colour, wide=shown.wide)
    if shown.html is not None:
        from inspector.cli import pages

        pages.write_report(shown.html, report.lines(target, found))
    return True


def _list_models(target: str, shown: Shown, main: Reconciliation | None = None) -> bool:
    """A table of the unrelated models in a folder; False where it holds none or one."""
    from inspector.sources.targets import in_filesystem

    if not (in_filesystem(target) or Path(target).expanduser().is_dir()):
        return False
    from inspector import api
    from inspector.report import models as table

    with progress("models") as told:
        found = api.models(target, progress=told)
    name = target if in_filesystem(target) else Path(target).expanduser().resolve().name or target
    if shown.as_json:
        document = _document(main, shown) if main else {"schema": "checkpoint-inspector/1", "target": target}
        if found:
            print_json({**document, "models": table.documents(found)})
    elif found:
        screen = terminal.screen(wide=shown.wide)
        print_lines((table.lines(name, found, screen.width),), colour=screen.colour, wide=shown.wide)
    if found and shown.html is not None:
        from inspector.cli import pages

        pages.write_models(shown.html, name, found)
    return bool(found)


def _show(result: Reconciliation, shown: Shown) -> None:
    from inspector.report import text

    screen = terminal.screen(wide=shown.wide)
    print_lines((text.overview(result, screen.width, notes=shown.notes),), colour=screen.colour, wide=shown.wide)
    if shown.layers:
        _print_layers(result)
    if shown.tensors:
        print_lines(("",))
        print_lines(text.tensors(result.tensors, screen.width), wide=shown.wide)


def overviews(targets: Sequence[str], shown: Shown, **opening: Any) -> int:
    """One after the other; one that cannot be read is a line on stderr, and the exit code says so."""
    documents, code = [], 0
    for number, target in enumerate(targets):
        try:
            result = reconciled(target, **opening)
        except InspectorError as error:
            code = _fail(str(error))
            continue
        if shown.as_json:
            documents.append(_document(result, shown))
        else:
            print_lines(("",) if number else ())
            _show(result, shown)
    if shown.as_json:
        print_json({"schema": "checkpoint-inspector/1", "target": list(targets), "checkpoints": documents})
    return code


def _document(result: Reconciliation, shown: Shown) -> dict[str, Any]:
    from inspector.report import documents

    document = documents.overview(result, tensors=shown.tensors)
    return {**document, **(_layers_json(result) if shown.layers else {})}


def reconciled(target: str, *, label: str | None = None, **opening: Any) -> Reconciliation:
    """A target opened and reconciled, with a progress bar where that takes a while."""
    from inspector import api

    with progress() as shown:
        checkpoint = api.open(target, progress=shown, **opening)
    return api.reconcile(checkpoint, label)


#: Seconds that work may take without a sign of life.
_PATIENCE = 0.5


@contextmanager
def progress(label: str = "headers") -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr for work that takes a while, and only where stderr is a terminal."""
    began, bar = monotonic(), None
    with ExitStack() as shown:

        def update(done: int, total: int) -> None:
            nonlocal bar
            if bar is None and total > 1 and monotonic() - began > _PATIENCE and sys.stderr.isatty():
                import click

                bar = shown.enter_context(click.progressbar(length=total, label=label, file=sys.stderr))
            if bar is not None:
                bar.update(done - bar.pos)

        yield update


#: Bytes below which reading is over before a bar would be seen.
_QUICK = 100_000_000


@contextmanager
def bytes_read(total: int, label: str) -> Iterator[Callable[[int], object]]:
    """A bar for `total` bytes, on stderr and only where that is a terminal; yields what to call with the bytes done."""
    if total < _QUICK or not sys.stderr.isatty():
        yield lambda _: None
        return
    from threading import Lock

    import click

    from inspector.units import decimal

    lock, began = Lock(), monotonic()
    bar: Any
    with click.progressbar(
        length=total, label=escape(label, 40), file=sys.stderr, item_show_func=lambda rate: f"{decimal(rate or 0)}/s"
    ) as bar:

        def done(nbytes: int) -> None:
            with lock:
                rate = (bar.pos + nbytes) / max(monotonic() - began, 0.001)
                bar.update(nbytes, round(rate))

        yield done


def _print_layers(result: Reconciliation) -> None:
    from inspector.bridge.by_layer import by_layer
    from inspector.report.layers import lines

    print_lines(lines(by_layer(result.tensors)))


def _layers_json(result: Reconciliation) -> dict[str, Any]:
    from inspector.bridge.by_layer import by_layer
    from inspector.report.layers import documents

    return {"layers": documents(by_layer(result.tensors))}


def print_json(document: dict[str, Any]) -> None:
    """One JSON object on stdout: indented for a person at a terminal, else compact, which is as fast as its bytes."""
    import json

    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(document, indent=indent, separators=None if indent else (",", ":")))
    sys.stdout.write("\n")


def print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], form: str) -> None:
    """Rows as a table in one of tabulate's formats. Raises UsageError for another word."""
    from tabulate import tabulate, tabulate_formats

    from inspector.errors import UsageError
    from inspector.report import markup

    if form not in tabulate_formats:
        raise UsageError(f"no format {form!r}: {', '.join(tabulate_formats)}")
    form = markup.SAFE.get(form, form)
    cells = [[markup.cell(_cell(row.get(column)), form) for column in columns] for row in rows]
    print_lines((tabulate(cells, columns, tablefmt=form, disable_numparse=True),), wide=True)


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "×".join(map(str, value))
    return "" if value is None else escape(str(value))


def print_lines(lines: Iterable[str], *, colour: bool = False, wide: bool = False) -> None:
    """Lines on stdout, in what its encoding and, unless `wide`, its width can show; the first is the title, where there
    are colours.
    """
    encoding = sys.stdout.encoding or "utf-8"
    width = terminal.screen(wide=wide).width
    for number, text in enumerate(lines):
        if width is not None:
            from inspector.report.columns import fitted  # for terminals

            text = "\n".join(fitted(line, width) for line in text.split("\n"))
        shown = terminal.painted(text, title=number == 0) if colour else text
        sys.stdout.write(terminal.encodable(shown, encoding) + "\n")
