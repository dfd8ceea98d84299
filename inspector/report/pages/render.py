"""A page → self-contained HTML: no network, no styles or scripts but its own, all text from files escaped."""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape as escape_html
from importlib.resources import files
from math import isfinite
from platform import python_version
from typing import Any, NamedTuple

from inspector.plots.figure import Chart
from inspector.report.pages.parts import (
    MOST_CHOICES,
    Cell,
    Column,
    Findings,
    Kind,
    Page,
    Part,
    Report,
    Section,
    Table,
    Text,
    word_of,
)
from inspector.units import decimal, escape, integer, plural
from inspector.version import __version__

#: Rows up to which a table is written out, and needs no script.
PLAIN = 60
#: Columns up to which it is: a phone's card has a line for each.
_PLAIN_COLUMNS = 14
#: The switch between light and dark.
_THEME = '<button id="theme" type="button" hidden>Dark</button>'
_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_FINDING_COLUMNS = (
    Column("severity", filtered=True),
    Column("rule", filtered=True),
    Column("file"),
    Column("tensor"),
    Column("message"),
)


def html(page: Page, command: str) -> str:
    """The whole page.

    Args:
        command: the command line, for the page's footer.
    """
    header, body, data = contents(page)
    style, own = _asset("page.css"), _asset("page.js")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, own)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">',
            f'<title>{_text(page.title, 200)}</title><link rel="icon" href="data:,">',
            f"<style>{style}</style></head>",
            '<body><a class="skip" href="#main">Skip to the content</a>',
            f"<header>{header}{_THEME}</header>",
            f'<main id="main">{body}</main>',
            _footer(command),
            f'<script type="text/plain" id="tables">{compressed(data)}</script>',
            f"<script>{own}</script>",
            "</body></html>\n",
        )
    )


class Contents(NamedTuple):
    """A page without what is the same on each: for a document that has the style sheet and the script."""

    header: str  # markup
    body: str  # markup
    tables: dict[str, Any]  # long ones, by the ids of their places: for the script's `showPage`


def contents(page: Page) -> Contents:
    """The page's markup, all text from files escaped, and the tables that its script draws."""
    data: dict[str, Any] = {}
    body = "\n".join(_section(section, number, data) for number, section in enumerate(page.sections))
    return Contents(_header(page), body, data)


def _asset(name: str) -> str:
    return files("inspector.report.pages").joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Allows nothing except the page's own style sheet and script, by their hashes."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(text: str, limit: int | None = None) -> str:
    """Any text: controls made visible, markup escaped."""
    return escape_html(escape(text, limit))


def _header(page: Page) -> str:
    lines = "".join(f"<p>{_text(line)}</p>" for line in page.lines if line)
    links = "".join(
        f'<li><a href="#s{number}">{_text(section.title)}</a></li>' for number, section in enumerate(page.sections)
    )
    return (
        f'<h1>{_text(page.title, 200)}</h1><p class="verdict {page.mood}">{_text(page.verdict)}</p>{lines}'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
    )


def _footer(command: str) -> str:
    return (
        f"<footer><p>Made by <code>{_text(command)}</code></p>"
        f"<p>checkpoint-inspector {__version__}, Python {python_version()}</p>"
        "<noscript><p>Long tables need JavaScript; nothing is fetched from anywhere.</p></noscript></footer>"
    )


def _section(section: Section, number: int, data: dict[str, Any]) -> str:
    parts = "\n".join(_part(part, data) for part in section.parts)
    return f'<section aria-labelledby="s{number}"><h2 id="s{number}">{_text(section.title)}</h2>{parts}</section>'


def _part(part: Part, data: dict[str, Any]) -> str:
    match part:
        case Text(lines):
            return "".join(f"<p>{_text(line)}</p>" for line in lines)
        case Report(text):
            return f'<pre tabindex="0">{"<br>".join(_text(line) for line in text.split(chr(10)))}</pre>'
        case Findings():
            return _findings(part, data)
        case Table():
            return _table(part, data)
        case Chart():
            return _chart(part, data)


def _findings(part: Findings, data: dict[str, Any]) -> str:
    if not part.found:
        return f"<p>{_text(part.nothing)}</p>"
    ranked = sorted(part.found, key=lambda each: _SEVERITIES[each.severity])
    rows = [(word_of(each.severity), each.rule, each.path, each.tensor, each.message) for each in ranked]
    return _table(Table(plural(len(rows), "finding"), _FINDING_COLUMNS, rows), data)


# --- tables ---------------------------------------------------------------------------------------


def _table(table: Table, data: dict[str, Any]) -> str:
    """Written out if short; else a placeholder that the page's script fills from its data."""
    if len(table.rows) <= PLAIN and len(table.columns) <= _PLAIN_COLUMNS:
        return _plain(table)
    own = f"t{len(data)}"
    data[own] = {
        "caption": escape(table.caption),
        "rows": len(table.rows),
        "columns": columns(table.columns, table.rows),
    }
    return f'<div class="long" id="{own}"><p>{_text(table.caption)}</p></div>'


def _plain(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_numeric(column)}>{_text(column.name)}</th>' if column.name else "<td></td>"
        for column in table.columns
    )
    cards = _is_wide(table)
    rows = "".join(f"<tr>{''.join(_cells(table.columns, row, named=cards))}</tr>" for row in table.rows)
    kind = "scroll cards" if cards else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{_text(table.caption, 200)}"><table>'
        f"<caption>{_text(table.caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


#: Characters of a phone's width, and of a text that is not folded.
_PHONE, _WORD = 40, 12
#: Letters of a word that may be parted; a role's name is whole.
_LONG = 24


def _is_wide(table: Table) -> bool:
    """Whether it is wider than a phone, which then shows each row as a card: names beside values."""
    width = 0
    for at, column in enumerate(table.columns):
        longest = max((len(_cell(row[at], column.kind)) for row in table.rows), default=0)
        width += 2 + max(len(column.name), min(longest, _WORD) if column.kind == "text" else longest)
    return width > _PHONE


def _cells(columns: Sequence[Column], row: Sequence[Cell], *, named: bool = False) -> Iterator[str]:
    """Each cell; `named` with its column's name, for cards."""
    for column, cell in zip(columns, row, strict=True):
        severity = f' class="{cell}"' if column.name == "severity" and cell in ("error", "warning") else ""
        name = f' data-name="{_text(column.name)}"' if named and column.name else ""
        exact = f' title="{cell:,} bytes"' if column.kind == "bytes" and isinstance(cell, int) else ""
        text = _cell(cell, column.kind)
        kind = (
            _numeric(column) or severity or (' class="long"' if max(map(len, text.split()), default=0) > _WORD else "")
        )
        yield f"<td{kind}{name}{exact}>{text}</td>"


def _numeric(column: Column) -> str:
    return "" if column.kind == "text" else ' class="number"'


def _cell(cell: Cell, kind: Kind) -> str:
    if cell is None:
        return ""
    if kind == "bytes" and isinstance(cell, int):
        return decimal(cell).replace("-", "\N{MINUS SIGN}")
    if isinstance(cell, float):
        return f"{cell:.6g}".replace("-", "\N{MINUS SIGN}")
    return integer(cell) if isinstance(cell, int) else _text(str(cell))


# --- charts ---------------------------------------------------------------------------------------


def _chart(chart: Chart, data: dict[str, Any]) -> str:
    """The chart, whose markup is its own and escaped there, a sentence about it, and its numbers as a table."""
    return (
        f"<figure><figcaption>{_text(chart.title)}</figcaption>"
        f'<div class="chart" tabindex="0" role="region" aria-label="{_text(chart.title)}">{chart.markup}</div>'
        f"<p>{_text(chart.summary)}</p>{_numbers(chart, data)}</figure>"
    )


def _numbers(part: Chart, data: dict[str, Any]) -> str:
    columns = [_column(name, [row[at] for row in part.rows]) for at, name in enumerate(part.headers)]
    numbers = _table(Table(f"{part.title}: the numbers", columns, part.rows), data)
    return f"<details><summary>The numbers as a table</summary>{numbers}</details>"


def _column(name: str, cells: Sequence[Cell]) -> Column:
    if any(isinstance(cell, (int, float)) for cell in cells):
        return Column(name, "number")
    return Column(name, filtered=1 < len(set(cells)) <= MOST_CHOICES)


# --- rows of long tables --------------------------------------------------------------------------

#: The largest integer that JavaScript represents exactly; larger ones are written as text.
EXACT = 2**53 - 1
#: The most characters of a string.
LONGEST = 4000


def columns(described: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[dict[str, Any]]:
    """Each column with its values, as JSON; a number that JavaScript cannot represent is `{"big": text}`."""
    kinds = [each._replace(kind="text" if each.kind == "text" else "number") for each in described]
    return [{**each._asdict(), "values": _values(each, [row[at] for row in rows])} for at, each in enumerate(kinds)]


def _values(column: Column, cells: Sequence[Cell]) -> list[Any]:
    as_json = _json_text if column.kind == "text" else _json_number
    known = {cell: as_json(cell) for cell in dict.fromkeys(cells)}
    return [known[cell] for cell in cells]


def _json_text(cell: Cell) -> str:
    return "" if cell is None else escape(str(cell), LONGEST)


def _json_number(cell: Cell) -> Any:
    if isinstance(cell, float) and not isfinite(cell):
        return None
    return {"big": str(cell)} if isinstance(cell, int) and abs(cell) > EXACT else cell


def compressed(tables: dict[str, Any]) -> str:
    """As JSON, by gzip, in base64: 92,000 tensors of DeepSeek-V3 take 1 MB, and none of it can be markup."""
    text = json.dumps(tables, separators=(",", ":"), allow_nan=False)
    return b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")
