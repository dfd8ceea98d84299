"""`python -m inspector`, and the `inspect` command.

Its usual form, `inspect TARGET`, needs no option parser, and does not wait for one to be imported.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

#: Words that are not targets when they come first.
COMMANDS = (
    "architectures",
    "audit",
    "browse",
    "completion",
    "diff",
    "learn",
    "mcp",
    "memory",
    "metadata",
    "overview",
    "parents",
    "predict",
    "quants",
    "scan",
    "tensors",
    "values",
)


def main() -> None:
    """Run the command line. The version is printed before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        from inspector.version import __version__

        try:
            print(f"inspect {__version__}", flush=True)
        except BrokenPipeError:  # at its exit, the interpreter tries to write again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command could handle it
        print("inspect: interrupted", file=sys.stderr)
        code = 130
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            stream.flush()
    # The system reclaims the memory at once; the interpreter would free it tensor by tensor.
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. Errors are one line on stderr, never a traceback."""
    # A command is short and makes few cycles; a collection would traverse a million tuples in vain.
    gc.disable()
    from inspector.cli import console

    return console.guarded(lambda: _call(arguments))


def _call(arguments: Sequence[str]) -> int:
    match arguments:
        case [target] if target and not target.startswith("-") and target not in COMMANDS:
            from inspector.cli import console, overviews

            console.refuse_misspelt(target, COMMANDS)
            overviews.overview(target)
            return 0
    from inspector.cli import commands as cli

    return cli.call(arguments)


if __name__ == "__main__":
    main()
