"""Texts from files in tables that other programs render: in each format, what its reader would take for markup is none.

A tensor's name may be a link, a script or a formula. Formats for the eye alone need nothing more than `units.escape`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

#: Format of tabulate's → the one that is written in its place: these two leave all escaping out.
SAFE: Mapping[str, str] = {"unsafehtml": "html", "latex_raw": "latex"}
#: Format → letters that a backslash takes the meaning from.
_BACKSLASHED: Mapping[str, str] = {
    **dict.fromkeys(("github", "pipe"), "\\|`*[]"),  # CommonMark 2.4, and GitHub's tables
    **dict.fromkeys(("jira", "youtrack"), "\\|{}[]*!"),
    "rst": "\\`*|_",
}
#: Formats whose readers take HTML as it is, with the letters that are written as its entities beside `<`, `>` and `&`.
_HTML: Mapping[str, str] = {
    **dict.fromkeys(("github", "pipe", "jira", "youtrack"), ""),
    **dict.fromkeys(("mediawiki", "moinmoin", "textile", "asciidoc"), "|{}[]'!*"),
    "orgtbl": "|",
}
#: How formulas of spreadsheets begin.
_FORMULA = ("=", "+", "-", "@")
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:e[+-]?\d+)?%?")


def cell(text: str, form: str) -> str:
    """A printable text as one cell of a table in a format."""
    if form == "tsv":
        return inert(text)
    for letter in _BACKSLASHED.get(form, ""):
        text = text.replace(letter, f"\\{letter}")
    if form in _HTML:
        text = html.escape(text, quote=False)
        for letter in _HTML[form]:
            text = text.replace(letter, f"&#{ord(letter)};")
    return text


def inert(text: str) -> str:
    """A printable text that no spreadsheet takes for a formula; a number is none."""
    return "'" + text if text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
