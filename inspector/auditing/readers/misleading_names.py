"""Misleading names: look-alike letters of other scripts, non-ASCII digits, characters that look like spaces; and paths
that leave their folder.

Control and invisible characters are handled by `units.escape`, because they are never printed.
"""

from __future__ import annotations

import re
import unicodedata

from inspector.auditing import data

_NAMES = data.names("letters")
#: Prefixes of the Unicode names of letters that look like Latin ones but are not normalized to them.
_LIKE_LATIN = tuple(_NAMES["like_latin"])


def look_alike(text: str) -> str | None:
    """The first letter in a Latin word that only looks Latin, or a non-ASCII digit."""
    if text.isascii():
        return None
    for word in re.findall(r"\w+", text):
        among_latin = any(char.isascii() and char.isalpha() for char in word)
        for char in word:
            name = "" if char.isascii() else unicodedata.name(char, "")
            if (among_latin and (name.startswith(_LIKE_LATIN) or _is_variant(char))) or (name and char.isdecimal()):
                return name.capitalize()
    return None


def _is_variant(char: str) -> bool:
    """Whether Unicode defines a letter as an ASCII one in another style: wide, bold, circled, a Roman numeral."""
    style, _, same = unicodedata.decomposition(char).partition("> ")
    raised = style in ("<super", "<sub", "<fraction")  # a symbol in formulas, and recognizable as such
    return bool(same) and not raised and any(int(code, 16) < 0x80 for code in same.split())


def odd_space(text: str) -> str | None:
    """The first character other than a space that is displayed as one."""
    if text.isascii():
        return None
    odd = next((char for char in text if char == "\u2800" or (char.isspace() and not char.isascii())), None)
    return unicodedata.name(odd, "a space").capitalize() if odd else None


#: Names and characters that Windows reserves.
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


def not_on_windows(path: str) -> bool:
    """Whether a path has a component that is special or empty on some system."""
    return "\\" in path or any(_RESERVED.match(part) or part != part.strip() for part in path.split("/"))


def barely_portable(path: str) -> bool:
    """Whether a name contains a character that some systems cannot store, or a suffix that they drop."""
    return re.search(r'[:?*<>|"]|\.(?:/|$)', path) is not None


def leaves(path: str) -> bool:
    """Whether a relative path leaves its folder, on any system."""
    parts = re.split(r"[/\\]", path)
    absolute = path.startswith(("/", "\\", "~", "file:")) or re.match(r"[A-Za-z]:", path) is not None
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return absolute or "\0" in path
