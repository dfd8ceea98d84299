"""`python -m inspector`, and the `inspect` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. The version is told before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        from inspector import __version__

        print(f"inspect {__version__}")
        return
    from inspector.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
