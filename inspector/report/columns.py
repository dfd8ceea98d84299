"""Rows of cells → lines of text in columns that fit the terminal.

The established packages for this take 0.05 s to import, a quarter of the whole command on a GGUF file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from unicodedata import combining, east_asian_width

_GAP = 2  # terminal columns between two table columns
_LEAST = 8  # below this, a column that may disappear does so
GO = -1  # for a column that is useless if shortened
_OTHER_WIDTH = "\u0300"  # the first character that does not take one terminal column


def bar(share: float, width: int) -> str:
    """A bar in eighths of a column: `█████▊` of `width` columns for the whole."""
    eighths = round(share * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def text_width(text: str) -> int:
    """Terminal columns of a text: two for each wide character, none for a combining one."""
    if text.isascii() or max(text) < _OTHER_WIDTH:
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def _text_widths(texts: Sequence[str]) -> list[int]:
    """`text_width` of each. Most columns of a long table have no character for which a text must be looked at."""
    if re.search(f"[^\0-{chr(ord(_OTHER_WIDTH) - 1)}]", "".join(texts)) is None:  # the complement is compiled at once
        return [*map(len, texts)]
    width_of = {text: text_width(text) for text in set(texts)}
    return [*map(width_of.__getitem__, texts)]


def _beginning(text: str, width: int) -> str:
    """As much of a text as fits, at least one character."""
    end = next((end for end in range(1, len(text)) if text_width(text[: end + 1]) > width), len(text))
    return text[:end]


def shortened(text: str, width: int) -> str:
    """At most `width` columns of a text, with `…` for the omitted part."""
    if text_width(text) <= width:
        return text
    taken, room = [], width - 1
    for char in text:
        room -= text_width(char)
        if room < 0:
            break
        taken.append(char)
    return "".join(taken).rstrip() + "…" if width > 0 else ""


#: Where names are cut, in characters from their beginning: `model.…3.mlp.up_proj.weight` keeps the number of the layer.
_CUTS = (6, 13, 3, 20, 0)


def distinct(names: Sequence[str], width: int) -> list[str]:
    """Names in up to this many columns, the long ones cut in the middle at a place where none become equal.

    Where there is no such place, only their ends are kept.
    """
    different = len(set(names))
    for cut in _CUTS:
        shown = [_without_middle(name, cut, width) for name in names]
        if len(set(shown)) == different:
            return shown
    shown = [shortened(name, width) for name in names]  # where they differ only in the middle
    return shown if len(set(shown)) == different else [_without_middle(name, 0, width) for name in names]


def least_width(names: Sequence[str]) -> int:
    """The narrowest column in which `distinct` keeps different names different."""
    different, longest = len(set(names)), max(map(text_width, names), default=0)
    return next((w for w in range(12, longest) if len(set(distinct(names, w))) == different), longest)


def _without_middle(name: str, cut: int, width: int) -> str:
    if text_width(name) <= width:
        return name
    cut = min(cut, width // 2)
    return f"{name[:cut]}…{name[len(name) - (width - cut - 1) :]}" if name.isascii() else shortened(name, width)


def table(
    rows: Iterable[Sequence[str]],
    headers: Sequence[str],
    align: str,
    *,
    width: int | None = None,
    give: Sequence[tuple[int, int]] = (),
    names: int | None = None,
) -> str:
    """Columns two spaces apart, each `l`eft- or `r`ight-aligned; no header line if `headers` is empty.

    Args:
        width: terminal columns; None for no limit.
        give: (table column, width down to which it may be shortened), in the order in which columns shrink; with 0 a
            column that gets too narrow disappears, with GO immediately. The line of headers then ends in `…`.
        names: a column of names, which are shortened in the middle, so that different ones stay different.
    """
    columns = [*zip(*([headers, *rows] if headers else rows), strict=True)]
    natural = [*map(_text_widths, columns)]
    widths = [*map(max, natural)]
    if width is not None and give:
        _fit(widths, width, give)
        if names is not None and widths[names]:
            columns[names] = tuple(distinct(columns[names], widths[names]))
            natural[names] = _text_widths(columns[names])
    shown = [
        _aligned(column, sizes, size, side)
        for column, sizes, size, side in zip(columns, natural, widths, align, strict=True)
        if size
    ]
    lines = [*map(str.rstrip, map((" " * _GAP).join, zip(*shown, strict=True)))]
    gone = bool(headers) and any(header and not size for header, size in zip(headers, widths, strict=True))
    if gone and text_width(lines[0]) + _GAP <= (width or 0):
        lines[0] += " …"
    return "\n".join(lines)


def _aligned(column: Sequence[str], sizes: Sequence[int], width: int, side: str) -> Iterable[str]:
    """A column's cells, all of one width."""
    if max(sizes) <= width and [*map(len, column)] == sizes:
        return map(str.rjust if side == "r" else str.ljust, column, repeat(width))
    return [_cell(cell, width, side) for cell in column]


def _cell(cell: str, width: int, side: str) -> str:
    cell = shortened(cell, width)
    fill = " " * (width - text_width(cell))
    return fill + cell if side == "r" else cell + fill


def _fit(widths: list[int], width: int, give: Sequence[tuple[int, int]]) -> None:
    """Shorten or drop columns, in order, until a line fits."""
    natural = list(widths)
    for column, least in give:
        over = _line(widths) - width
        if over > 0:
            widths[column] = 0 if least == GO else max(min(widths[column], least or _LEAST), widths[column] - over)
        if not least and _line(widths) > width:
            widths[column] = 0
    for column, _ in give:  # the space freed by a dropped column
        room = width - _line(widths)
        if widths[column] and room > 0:
            widths[column] = min(natural[column], widths[column] + room)


def _line(widths: Iterable[int]) -> int:
    shown = [size for size in widths if size]
    return sum(shown) + _GAP * (len(shown) - 1)


def fitted(line: str, width: int | None) -> str:
    """A report line in at most `width` columns: a table row is shortened, a sentence is folded."""
    if width is None or text_width(line) <= width:
        return line
    indent = len(line) - len(line.lstrip())
    return shortened(line, width) if " " * _GAP in line.strip() else wrapped(line, width, indent + 2)


#: Between words that are not split between lines, such as a number and its unit; no text that is shown contains it.
_GLUE = "\0"


def wrapped(text: str, width: int | None, indent: int = 2) -> str:
    """A line folded at spaces to the width, further lines indented; unchanged if there is no limit.

    A word longer than a line is split.
    """
    if width is None or text_width(text) <= width:
        return text.replace(_GLUE, " ")
    text = re.sub(r"(?<=\d) (?=[kMGTP]?i?B\b)", _GLUE, text)
    lead = text[: len(text) - len(text.lstrip(" "))]
    lines, line = [], ""
    for word in text.strip(" ").split(" "):
        candidate = f"{line} {word}" if line else lead + word
        if line.strip() and text_width(candidate) > width:
            lines.append(line)
            candidate = " " * indent + word
        while text_width(candidate) > width > indent:  # a word, such as a path, longer than any line
            lines.append(head := _beginning(candidate, width))
            candidate = " " * indent + candidate[len(head) :]
        line = candidate
    return "\n".join((*lines, line)).replace(_GLUE, " ")


def whole_items(text: str) -> str:
    """A list for `folded`, which then begins lines with items: `65.25 GB` is not split."""
    return ", ".join(item.replace(" ", _GLUE) if len(item) < 40 else item for item in text.split(", "))


def folded(text: str, width: int | None, most: int | None = None, indent: int = 2) -> list[str]:
    """A text in up to this many lines, the last shortened."""
    lines = wrapped(text, width, indent).split("\n")
    if most is not None and len(lines) > most:
        rest = " ".join((lines[most - 1], *(line.strip() for line in lines[most:])))
        lines[most - 1 :] = [shortened(rest, width or 0)]
    return lines


def cut(text: str, width: int | None) -> str:
    """A list that fits: cut after a whole item."""
    if width is None or len(text) <= width:
        return text
    head = text[: width - 1].rpartition(", ")[0]
    return f"{head}, …" if len(head) > width // 2 else shortened(text, width)
