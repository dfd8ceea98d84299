"""`python -m inspector`, and the `inspect` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. The version is told before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        from inspector import __version__

        print(f"inspect {__version__}")
        return
    try:
        from inspector.cli import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command could say what to do about it
        print("inspect: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
