"""Strings from files in tables that other programs render: escaped so that no format's reader sees markup in them.

A tensor's name may be a link, a script or a formula. Formats for display only need nothing beyond `units.escape`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

#: A format of tabulate → its replacement: these two do not escape anything.
SAFE: Mapping[str, str] = {"unsafehtml": "html", "latex_raw": "latex"}
#: Format → characters to escape with a backslash.
_BACKSLASHED: Mapping[str, str] = {
    **dict.fromkeys(("github", "pipe"), "\\|`*[]"),  # CommonMark 2.4, and GitHub's tables
    **dict.fromkeys(("jira", "youtrack"), "\\|{}[]*!"),
    "rst": "\\`*|_",
}
#: Formats whose readers accept HTML, with the characters to write as entities besides `<`, `>` and `&`.
_HTML: Mapping[str, str] = {
    **dict.fromkeys(("github", "pipe", "jira", "youtrack"), ""),
    **dict.fromkeys(("mediawiki", "moinmoin", "textile", "asciidoc"), "|{}[]'!*"),
    "orgtbl": "|",
}
#: First characters of spreadsheets' formulas; East Asian versions read the wide ones as well.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: A cell whose quotation marks a reader of TSV takes for its limits, without any within.
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:e[+-]?\d+)?%?")


def cell(text: str, form: str) -> str:
    """A printable string as one cell of a table in a format."""
    if form == "tsv":
        return _unquoted(text)
    for letter in _BACKSLASHED.get(form, ""):
        text = text.replace(letter, f"\\{letter}")
    if form in _HTML:
        text = html.escape(text, quote=False)
        for letter in _HTML[form]:
            text = text.replace(letter, f"&#{ord(letter)};")
    return text


def _unquoted(text: str) -> str:
    """A cell of TSV, which tabulate never quotes: a reader takes off a quotation mark, or reads on to the next one."""
    inner = text.lstrip().removeprefix('"')
    ends_elsewhere = inner != text.lstrip() and not _QUOTED.fullmatch(text.strip())
    return "'" + text if ends_elsewhere or inert(inner) != inner else text


def inert(text: str) -> str:
    """A printable string that no spreadsheet treats as a formula; numbers are unchanged."""
    return "'" + text if text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
