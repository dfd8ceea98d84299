"""What surrounds a command: errors as one line each, exit codes, progress."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from inspector.cli import terminal
from inspector.errors import InspectorError, UsageError
from inspector.units import escape

if TYPE_CHECKING:
    from inspector.model import Checkpoint, Reconciliation

UNREADABLE = 2
INTERRUPTED = 130
#: Raised on writing to a full or broken device. Files that are read raise other errors.
OUTPUT_FAILS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code. Errors are one line on stderr, never a traceback."""
    # None if our caller has closed it.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    try:
        code = command()
        with reader_may_leave():
            sys.stdout.flush()
    except KeyboardInterrupt:
        return fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # The reader of our output has gone, as with `| head`: there is nobody to report to. Click exits on its own
        # if it notices first, and for no other reason.
        _drop_output()
        return 0
    except InspectorError as error:
        return fail(str(error))
    except RecursionError:
        return fail("something in the input is nested too deeply")
    except MemoryError:
        return fail("not enough memory for this input")
    except Exception as error:
        return _unforeseen(error)
    return code


def _unforeseen(error: Exception) -> int:
    """Report output that cannot be written, or an internal error, in one line. INSPECT_DEBUG raises the latter."""
    if isinstance(error, OSError) and error.errno in OUTPUT_FAILS:
        _drop_output()
        return fail(f"cannot write the output: {error.strerror}")
    if os.environ.get("INSPECT_DEBUG"):
        raise error
    if isinstance(error, OSError) and error.filename:
        return fail(f"{escape(str(error.filename), 200)}: {error.strerror}")
    what = f"{type(error).__name__}: {str(error)[:200]}"
    return fail(f"internal error: {what}; INSPECT_DEBUG=1 shows where")


def _drop_output() -> None:
    """Discard what is buffered: otherwise Python tries to write it at exit, and fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Output whose reader may leave early, as with `| head`, without affecting the exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()


def tell(message: str) -> None:
    """Print one line on stderr, folded where that is a terminal."""
    terminal.write((f"inspect: {escape(message)}",), sys.stderr)


#: What other tools call it → what it is here.
_OTHER_WORDS = {
    "help": "--help",
    "version": "--version",
    **dict.fromkeys(("check", "verify", "validate", "lint"), "audit"),
    **dict.fromkeys(("compare", "cmp"), "diff"),
    **dict.fromkeys(("ls", "list", "layers", "keys", "dump"), "tensors"),
    **dict.fromkeys(("mem", "vram", "size", "fit", "estimate"), "memory"),
    **dict.fromkeys(("stats", "statistics", "nan"), "values"),
    **dict.fromkeys(("quantize", "quantization"), "quants"),
    **dict.fromkeys(("info", "show", "inspect"), "TARGET"),
}


def refuse_misspelt(word: str, commands: Iterable[str]) -> None:
    """Raise UsageError for a word that is almost a command, and is nothing here: the Hub is not asked about it."""
    if not word.replace("-", "").replace("_", "").isalpha() or os.path.lexists(word):
        return
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), [*commands], 1, 0.75)
    near = near or get_close_matches(word.lower(), [*_OTHER_WORDS], 1, 0.85)  # `lost` is a lost file, not `list`
    if near:
        from inspector.sources.targets import names_near

        meant, here = _OTHER_WORDS.get(near[0], near[0]), names_near(word)
        what = f"no such file, folder or command: {word!r} (did you mean `inspect {meant}`?)"
        raise UsageError(f"{what}{here}; see `inspect --help`")


def fail(message: str, code: int = UNREADABLE) -> int:
    """Print one line on stderr and return the exit code."""
    tell(message)
    return code


def is_folder(target: str) -> bool:
    """Whether it is a folder on this machine; False as well where the system refuses to say."""
    try:
        return Path(target).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):  # no permission; a user without a home; a name that is not a path
        return False


def refuse_several(*targets: str, **picked: Any) -> None:
    """Raise UsageError for a folder of unrelated models, unless options pick one: none of them is the one meant."""
    for target in targets if not any(picked.values()) else ():
        if not is_folder(target):
            continue
        from inspector.opening.named import unrelated_at  # only for folders

        found = [each.target for each in unrelated_at(target) if each.foreign is None]
        if len(found) > 1:
            names = ", ".join(escape(name, 60) for name in found[:3]) + (", …" if len(found) > 3 else "")
            what = f"{escape(target, 80)} holds {len(found)} models that can be read: name one of them ({names})"
            raise UsageError(f"{what}; `inspect {escape(target, 80)}` lists them")


def reconciled(target: str, *, label: str | None = None, **opening: Any) -> Reconciliation:
    """Open and reconcile a target, with a progress bar if it takes a while."""
    from inspector import api

    with progress() as shown:
        checkpoint: Checkpoint = api.open(target, progress=shown, **opening)
    return api.reconcile(checkpoint, label)


@contextmanager
def _bar(**options: Any) -> Iterator[Any]:
    """click's bar on stderr, which is gone when the work is done: the answer has the whole screen."""
    import click

    try:
        with click.progressbar(file=sys.stderr, width=0, **options) as bar:  # as wide as the terminal, not wider
            yield bar
    finally:
        if os.environ.get("TERM") != "dumb":
            sys.stderr.write("\x1b[A\x1b[2K")  # a line up, and cleared
            sys.stderr.flush()


#: Seconds before a progress bar appears.
_PATIENCE = 0.5


@contextmanager
def progress(label: str = "headers") -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr for work that takes a while, only if stderr is a terminal."""
    began, bar = monotonic(), None
    with ExitStack() as shown:

        def update(done: int, total: int) -> None:
            nonlocal bar
            if bar is None and total > 1 and monotonic() - began > _PATIENCE and sys.stderr.isatty():
                bar = shown.enter_context(_bar(length=total, label=label))
            if bar is not None:
                bar.update(done - bar.pos)

        yield update


#: Smaller reads finish before a bar would be visible.
_QUICK = 100_000_000


@contextmanager
def bytes_read(total: int, label: str) -> Iterator[Callable[[int], object]]:
    """A bar for `total` bytes on stderr, only if it is a terminal; yields a function to call with the bytes done."""
    if total < _QUICK or not sys.stderr.isatty():
        yield lambda _: None
        return
    from threading import Lock

    from inspector.units import decimal

    lock, began = Lock(), monotonic()
    with _bar(length=total, label=escape(label, 40), item_show_func=lambda rate: f"{decimal(rate or 0)}/s") as bar:

        def done(nbytes: int) -> None:
            with lock:
                rate = (bar.pos + nbytes) / max(monotonic() - began, 0.001)
                bar.update(nbytes, round(rate))

        yield done


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object on stdout: indented on a terminal, else compact, which is as fast as it is short."""
    import json

    indent = 2 if sys.stdout.isatty() else None
    with reader_may_leave():
        sys.stdout.write(json.dumps(document, indent=indent, separators=None if indent else (",", ":")) + "\n")


def print_lines(texts: Iterable[str], *, titled: bool = False, wide: bool = False) -> None:
    """Print texts on stdout, as `terminal.write` does, whose reader may leave."""
    with reader_may_leave():
        terminal.write(texts, titled=titled, wide=wide)
