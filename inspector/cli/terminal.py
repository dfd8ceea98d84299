"""What reads a command's text: a terminal, for which lines are folded and coloured, or a pipe, which gets them plain.

All text of all commands goes through `write`. Colours are rich's, which is imported for a terminal alone; the words
that have one are in `STYLES`.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import IO

from inspector.tabular import NamedTuple
from inspector.units import HARMLESS, escape

#: When `--color` wants colours: "auto" is on a terminal.
WHEN = ("auto", "always", "never")
_when = WHEN[0]


def set_colour(when: str) -> None:
    """`--color WHEN`, for the rest of the process."""
    global _when  # noqa: PLW0603  an option of every command
    _when = when


class Screen(NamedTuple):
    """The limits of the output."""

    width: int | None = None  # columns; None if unlimited
    colour: bool = False


def screen(stream: IO[str] | None = None, *, wide: bool = False) -> Screen:
    """The terminal behind a stream (by default stdout), or no limit and no colour for a pipe or a file.

    Follows `--color`, then `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` as described at https://no-color.org.
    """
    terminal = (stream or sys.stdout).isatty()
    width = None
    if terminal and not wide:
        from shutil import get_terminal_size  # respects COLUMNS

        width = max(20, get_terminal_size().columns)
    return Screen(width, _coloured(terminal))


def _coloured(terminal: bool) -> bool:
    if _when != "auto":
        return _when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (terminal and os.environ.get("TERM") != "dumb")


def write(texts: Iterable[str], stream: IO[str] | None = None, *, titled: bool = False, wide: bool = False) -> None:
    """Write texts of one or more lines: folded to the terminal's width, coloured if it has colours, else as they are.

    Args:
        titled: whether the first line is a title.
        wide: do not fold lines.
    """
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"  # a StringIO has none
    width, colour = screen(stream, wide=wide)
    for number, text in enumerate(texts):
        text = _printable(text)
        if width is not None:
            from inspector.report.columns import fitted  # for terminals

            text = "\n".join(fitted(line, width) for line in text.split("\n"))
        if colour:
            text = painted(text, titled=titled and not number)
        stream.write(encodable(_no_command(text), encoding) + "\n")


def _printable(text: str) -> str:
    """Lines of text as they are. Whatever a report has not escaped, and a terminal would obey, is escaped here."""
    shown = text.replace("\n", "").replace("\t", "")
    if shown.isprintable() and (shown.isascii() or not re.search(f"[^\0-{chr(ord(HARMLESS) - 1)}]", shown)):
        return text
    return "\n".join("\t".join(map(escape, line.split("\t"))) for line in text.split("\n"))


def _no_command(text: str) -> str:
    """Lines that GitHub's runner does not mistake for its commands: `::stop-commands::x` would hide what follows."""
    if "::" not in text and "##[" not in text:
        return text
    return re.sub(r"(?m)^([^\S\n]*):(?=:)", r"\1\\x3a", text).replace("##[", "#\\x23[")


# --- colours ----------------------------------------------------------------------------------------

#: The first group of a pattern has the style. A pattern is one of words at a fixed place in a line: no name in a
#: file is mistaken for a verdict.
STYLES: Mapping[str, str] = {
    r"^(complete|fits|sound)(?=[:,; ]|$)": "bold green",
    r"^(incomplete|unverified|no weights here|tight|doubtful|not judged)(?=[:,; ]|$)": "bold yellow",
    r"^(damaged|does not fit|faulty|unsafe)(?=[:,; ]|$)": "bold red",
    r"^  [^:]+: (\d[\d,]* (?:NaN|infinite)(?:, \d[\d,]* infinite)?) of": "red",
    r"^  [^:]+: (all \d[\d,]* numbers are zero)$": "yellow",
    r"^\s*(error)(?=[: ])": "bold red",
    r"^\s*(warning)(?=[: ])": "yellow",
    r"^\s*(info|note|assumed)(?=[: ])": "dim",
    r"(?<=B  )(yes|complete|sound)\b": "green",  # after a size: whether it fits, or is whole
    r"(?<=B  )(incomplete|unverified|not read|doubtful|not judged)\b": "yellow",
    r"(?<=B  )(no|damaged|unreadable|faulty|unsafe)\b(?! read| judged)": "red",
    r"^(next): ": "bold",
    r"( █+[▏▎▍▌▋▊▉]?| [▏▎▍▌▋▊▉])(?= |$)": "cyan",  # a bar
}


def painted(text: str, *, titled: bool = False) -> str:
    """A text with the colours of its verdicts and severities, as escape sequences; its title in bold."""
    lines = text.split("\n")
    title = [_styled(lines.pop(0), "bold")] if titled else []
    some = re.compile("|".join(f"(?:{pattern})" for pattern in STYLES))  # most lines of a long list have none
    return "\n".join((*title, *(_coloured_words(line) if some.search(line) else line for line in lines)))


def _coloured_words(line: str) -> str:
    for pattern, style in STYLES.items():
        line = re.sub(pattern, lambda match: match[0].replace(match[1], _styled(match[1], style), 1), line)  # noqa: B023
    return line


def _styled(text: str, style: str) -> str:
    from rich.style import Style  # for terminals with colours

    return Style.parse(style).render(text)


# --- encodings --------------------------------------------------------------------------------------

#: Signs in sums, shapes and bars → substitutes for encodings that lack them: a number never loses its sign.
ASCII = {
    **dict(zip("−–×·→≠±≤≥…", ("-", "-", "x", "*", "->", "!=", "+/-", "<=", ">=", "..."), strict=True)),
    **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("▍▎▏", " "),
}


def encodable(text: str, encoding: str) -> str:
    """The text restricted to the encoding: our own signs in ASCII, any other unencodable character as `?`."""
    return text.encode(encoding, _HANDLER).decode(encoding)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lost = error.object[error.start : error.end]
    return "".join(ASCII.get(char, "?") for char in lost), error.end


_HANDLER = "inspect-signs"
codecs.register_error(_HANDLER, _replaced)
