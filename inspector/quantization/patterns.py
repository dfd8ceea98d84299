"""Regular expressions from configurations, restricted to those that run in bounded time.

An untrusted expression may take forever. Lists of modules need little: literals, classes, `.*`, alternatives. These are
translated; `.*` takes the nearest continuation, `\\d+` all digits, and neither backtracks, as in `fnmatch`. Anything
else is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 400  # characters of an expression
MOST_STARS = 40
MOST_OPTIONAL = 5

_TOKEN = re.compile(
    r"(?P<star>\.[*+])"
    r"|(?P<digits>(?:\\d|\[0-9\])[+*])"
    r"|(?P<atom>\\[dw.\-_/$^]|\[\^?[\w.\-]+\]|[\w\-/]|\.)(?P<optional>\??)(?![+*{])"
    r"|\((?:\?:)?(?P<choice>[\w.|\\\-\[\]]+)\)(?P<maybe>\??)(?![+*{])"
    r"|(?P<end>\$)$"
)


def compiled(text: str) -> re.Pattern[str] | None:
    """The compiled expression for `match`; None if it is unsafe to run."""
    if len(text) > LONGEST:
        return None
    pieces = list(_tokens_in_safe_form(text.removeprefix("^")))
    if None in pieces or sum(piece.endswith("?") for piece in pieces if piece) > MOST_OPTIONAL:
        return None
    segments, ends = _split_at_stars([piece for piece in pieces if piece is not None])
    if len(segments) > MOST_STARS:
        return None
    try:
        return re.compile(_without_backtracking(segments, ends=ends))
    except re.error:
        return None


def _tokens_in_safe_form(text: str) -> Iterator[str | None]:
    """Each token in safe words; "*" for a star, None for anything unsupported."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            yield None
            return
        at = match.end()
        if match["star"]:
            yield from ("*",) if match["star"] == ".*" else (".", "*")
        elif match["digits"]:
            yield f"(?=(?P<d{at}>{match['digits']}))(?P=d{at})"
        elif match["atom"]:
            yield match["atom"] + match["optional"]
        elif match["choice"]:
            yield f"(?:{match['choice']}){match['maybe']}"
        else:
            yield "$"


def _split_at_stars(pieces: list[str]) -> tuple[list[str], bool]:
    """The text between the stars, and whether the expression must match to the end of the name."""
    ends = pieces[-1:] == ["$"]
    segments = [""]
    for piece in pieces[: len(pieces) - ends]:
        if piece == "*":
            segments.append("")
        else:
            segments[-1] += piece
    return segments, ends


def _without_backtracking(segments: list[str], *, ends: bool) -> str:
    first, *others = segments
    last = others.pop() if others and ends else None
    nearest = (f"(?=(?P<s{at}>.*?{segment}))(?P=s{at})" for at, segment in enumerate(others))
    tail = "" if not ends else r"\Z" if last is None else f".*{last}\\Z"
    return first + "".join(nearest) + tail
