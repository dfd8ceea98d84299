"""What the output stream can show: its width, colours, and the characters of its encoding."""

from __future__ import annotations

import codecs
import os
import re
import sys
from typing import NamedTuple

#: Signs in sums and shapes → substitutes for encodings that lack them: a number never loses its sign.
ASCII = {"−": "-", "–": "-", "×": "x", "·": "*", "…": "...", "→": "->", "≠": "!=", "±": "+/-", "≤": "<=", "≥": ">="}
_BOLD, _RED, _YELLOW, _DIM, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[0m"
_SEVERITIES = {"error": _BOLD + _RED, "warning": _YELLOW, "info": _DIM}
_SEVERITY = r"^(\s*)(error|warning|info)(?=[: ])"


class Screen(NamedTuple):
    """The limits of the output."""

    width: int | None = None  # columns; None if unlimited
    colour: bool = False


def screen(*, wide: bool = False) -> Screen:
    """The terminal on stdout, or no limit and no colour for a pipe or a file.

    Follows `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` as described at https://no-color.org.
    """
    terminal = sys.stdout.isatty()
    width = None
    if terminal and not wide:
        from shutil import get_terminal_size  # respects COLUMNS

        width = max(20, get_terminal_size().columns)
    colour = terminal and os.environ.get("TERM") != "dumb"
    if os.environ.get("NO_COLOR"):
        colour = False
    elif os.environ.get("FORCE_COLOR"):
        colour = True
    return Screen(width, colour)


def painted(text: str, *, title: bool = True) -> str:
    """A report with its title in bold and its findings in the colours of their severities."""
    lines = text.split("\n")
    if title and lines[0]:
        lines[0] = f"{_BOLD}{lines[0]}{_PLAIN}"
    return "\n".join(re.sub(_SEVERITY, _coloured, line) for line in lines)


def _coloured(match: re.Match[str]) -> str:
    return f"{match[1]}{_SEVERITIES[match[2]]}{match[2]}{_PLAIN}"


def encodable(text: str, encoding: str) -> str:
    """The text restricted to the encoding: our own signs in ASCII, any other unencodable character as `?`."""
    return text.encode(encoding, _HANDLER).decode(encoding)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lost = error.object[error.start : error.end]
    return "".join(ASCII.get(char, "?") for char in lost), error.end


_HANDLER = "inspect-signs"
codecs.register_error(_HANDLER, _replaced)
