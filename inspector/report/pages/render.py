"""A page → self-contained HTML: no network, no styles or scripts but its own, all text from files escaped."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape as escape_html
from importlib.resources import files
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

from inspector.plots.drawing import Drawing
from inspector.plots.figure import Chart, missing
from inspector.report.pages.parts import MOST_CHOICES, Cell, Column, Findings, Page, Part, Report, Section, Table, Text
from inspector.units import escape, integer, plural
from inspector.version import __version__

#: Rows up to which a table is written out, and needs no script.
PLAIN = 60
#: A script that records when the content above plotly's script has been painted.
_SEEN = 'requestAnimationFrame(() => setTimeout(() => performance.mark("seen")));'
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

    Raises:
        UsageError: the page has charts, and plotly is not installed.
    """
    header, body, data = contents(page)
    style, own = _asset("page.css"), _asset("page.js")
    plotly = plotly_script() if page.charts else None
    scripts = [_SEEN, plotly.text, own] if plotly else [own]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy([style], scripts)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">',
            f'<title>{_text(page.title, 200)}</title><link rel="icon" href="data:,">',
            f"<style>{style}</style></head>",
            '<body><a class="skip" href="#main">Skip to the content</a>',
            *(f'<template id="{each}"></template>' for each in (plotly.styles if plotly else ())),
            f"<header>{header}{_THEME}</header>",
            f'<main id="main">{body}</main>',
            _footer(command, plotly.version if plotly else None),
            _json("charts", data),
            *(f"<script>{each}</script>" for each in scripts),
            _json("tables", data),  # megabytes, parsed when the first chart is drawn
            "</body></html>\n",
        )
    )


class Contents(NamedTuple):
    """A page without what is the same on each: for a document that has the style sheet and the script."""

    header: str  # markup
    body: str  # markup
    data: dict[str, Any]  # `charts` and `tables`, by the ids of their places: for the script's `showPage`


def contents(page: Page) -> Contents:
    """The page's markup, all text from files escaped, and what its script draws."""
    data: dict[str, Any] = {"tables": {}, "charts": {}}
    body = "\n".join(_section(section, number, data) for number, section in enumerate(page.sections))
    return Contents(_header(page), body, data)


def _json(name: str, data: dict[str, Any]) -> str:
    return f'<script type="application/json" id="{name}">{script_json(data[name])}</script>'


def _asset(name: str) -> str:
    return files("inspector.report.pages").joinpath(name).read_text("utf-8")


def _policy(styles: Sequence[str], scripts: Sequence[str]) -> str:
    """Allows nothing except the page's own contents: scripts and style sheets by their hashes.

    plotly creates an empty style sheet, which it fills by script, and sets styles of single elements.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src-elem {' '.join(map(_hash, (*styles, '')))}",
            "style-src-attr 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
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


def _footer(command: str, plotly: str | None) -> str:
    charts = f", plotly.js {plotly}" if plotly else ""
    return (
        f"<footer><p>Made by <code>{_text(command)}</code></p>"
        f"<p>checkpoint-inspector {__version__}, Python {python_version()}{_text(charts)}</p>"
        "<noscript><p>Charts and long tables need JavaScript; nothing is fetched from anywhere.</p></noscript></footer>"
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
        case Drawing():
            return _drawing(part, data)


def _findings(part: Findings, data: dict[str, Any]) -> str:
    if not part.found:
        return f"<p>{_text(part.nothing)}</p>"
    ranked = sorted(part.found, key=lambda each: _SEVERITIES[each.severity])
    rows = [(each.severity, each.rule, each.path, each.tensor, each.message) for each in ranked]
    return _table(Table(plural(len(rows), "finding"), _FINDING_COLUMNS, rows), data)


# --- tables ---------------------------------------------------------------------------------------


def _table(table: Table, data: dict[str, Any]) -> str:
    """Written out if short; else a placeholder that the page's script fills from its data."""
    if len(table.rows) <= PLAIN:
        return _plain(table)
    own = f"t{len(data['tables'])}"
    data["tables"][own] = {
        "caption": escape(table.caption),
        "rows": len(table.rows),
        "columns": packed(table.columns, table.rows),
    }
    return f'<div class="long" id="{own}"><p>{_text(table.caption)}</p></div>'


def _plain(table: Table) -> str:
    heads = "".join(f'<th scope="col"{_numeric(column)}>{_text(column.name)}</th>' for column in table.columns)
    cards = _is_wide(table)
    rows = "".join(f"<tr>{''.join(_cells(table.columns, row, named=cards))}</tr>" for row in table.rows)
    kind = "scroll cards" if cards else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{_text(table.caption, 200)}"><table>'
        f"<caption>{_text(table.caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


#: Characters of a phone's width, and of a text that is not folded.
_PHONE, _WORD = 40, 12


def _is_wide(table: Table) -> bool:
    """Whether it is wider than a phone, which then shows each row as a card: names beside values."""
    width = 0
    for at, column in enumerate(table.columns):
        longest = max((len(_cell(row[at])) for row in table.rows), default=0)
        width += 2 + max(len(column.name), longest if column.kind == "number" else min(longest, _WORD))
    return width > _PHONE


def _cells(columns: Sequence[Column], row: Sequence[Cell], *, named: bool = False) -> Iterator[str]:
    """Each cell; `named` with its column's name, for cards."""
    for column, cell in zip(columns, row, strict=True):
        severity = f' class="{cell}"' if column.name == "severity" and cell in _SEVERITIES else ""
        name = f' data-name="{_text(column.name)}"' if named and column.name else ""
        yield f"<td{_numeric(column) or severity}{name}>{_cell(cell)}</td>"


def _numeric(column: Column) -> str:
    return ' class="number"' if column.kind == "number" else ""


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}".replace("-", "\N{MINUS SIGN}")
    return integer(cell) if isinstance(cell, int) else _text(str(cell))


# --- charts ---------------------------------------------------------------------------------------


def _chart(chart: Chart, data: dict[str, Any]) -> str:
    """The placeholder of a chart, a sentence about what it shows, and its numbers as a table."""
    own = f"c{len(data['charts'])}"
    data["charts"][own] = {
        "data": list(chart.traces),
        "layout": dict(chart.layout),
        "views": list(chart.views),
        "height": chart.height,
    }
    return (
        f'<figure><figcaption>{_text(chart.title)}</figcaption><div class="views" id="{own}-views"></div>'
        f'<div role="img" aria-label="{_text(chart.summary)}">'
        f'<div class="chart" id="{own}" aria-hidden="true">{bars(chart)}</div></div>'
        f"<p>{_text(chart.summary)}</p>{_numbers(chart, data)}</figure>"
    )


def _drawing(part: Drawing, data: dict[str, Any]) -> str:
    """The drawing, whose markup is its own and escaped there, and its numbers as a table."""
    return (
        f"<figure><figcaption>{_text(part.title)}</figcaption>"
        f'<div class="drawing" tabindex="0" role="region" aria-label="{_text(part.title)}">{part.svg}</div>'
        f"<p>{_text(part.summary)}</p>{_numbers(part, data)}</figure>"
    )


def _numbers(part: Chart | Drawing, data: dict[str, Any]) -> str:
    columns = [_column(name, [row[at] for row in part.rows]) for at, name in enumerate(part.headers)]
    numbers = _table(Table(f"{part.title}: the numbers", columns, part.rows), data)
    return f"<details><summary>The numbers as a table</summary>{numbers}</details>"


def _column(name: str, cells: Sequence[Cell]) -> Column:
    if any(isinstance(cell, (int, float)) for cell in cells):
        return Column(name, "number")
    return Column(name, filtered=1 < len(set(cells)) <= MOST_CHOICES)


# --- a waterfall without a script -------------------------------------------------------------------

_THINNEST = 0.1  # percent of the width, just visible


def bars(chart: Chart) -> str:
    """A line for each bar, with its name, shown while a browser compiles plotly, or if no script runs.

    Empty for charts of other kinds.
    """
    trace = chart.traces[0]
    if trace["type"] != "waterfall":
        return ""
    spans = list(_spans(trace))
    percent = 100 / (max(map(max, spans), default=0) or 1)
    # `figure.label` has already escaped the names, as plotly requires.
    return "".join(
        f'<div class="bar"><span>{name}</span><svg><rect x="{min(span) * percent:.3f}%" height="100%" '
        f'width="{max(abs(span[1] - span[0]) * percent, _THINNEST):.3f}%" fill="{colour}"/></svg></div>'
        for name, span, colour in zip(chart.layout["yaxis"]["ticktext"], spans, _colours(trace), strict=True)
    )


def _spans(trace: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Where each bar begins and ends: a step begins where the previous bar ended."""
    end = 0
    for value, measure in zip(trace["x"], trace["measure"], strict=True):
        begin = end if measure == "relative" else 0
        end = begin + value
        yield begin, end


def _colours(trace: Mapping[str, Any]) -> Iterator[str]:
    for value, measure in zip(trace["x"], trace["measure"], strict=True):
        kind = "totals" if measure == "absolute" else "increasing" if value >= 0 else "decreasing"
        yield trace[kind]["marker"]["color"]


# --- rows of a table as compact JSON ----------------------------------------------------------------
# 92,000 tensors of DeepSeek-V3 take 2 MB. `page.js` unpacks it.

#: The largest integer that JavaScript represents exactly; larger ones are written as text.
EXACT = 2**53 - 1
#: The most characters of a string.
LONGEST = 4000
_NUMBER = re.compile(r"(?<![0-9])(?:0|[1-9][0-9]{0,8})(?![0-9])", re.ASCII)


def packed(described: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[dict[str, Any]]:
    """Each column with its values: plain `v`alues, `t`emplates with their numbers, or a `d`ictionary with
    its indexes; if all values are equal, with their number.
    """
    return [
        {"name": each.name, "kind": each.kind, "filtered": each.filtered, **_values(each, [row[at] for row in rows])}
        for at, each in enumerate(described)
    ]


def _values(column: Column, cells: Sequence[Cell]) -> dict[str, Any]:
    if column.kind == "text":
        texts = {cell: "" if cell is None else escape(str(cell), LONGEST) for cell in dict.fromkeys(cells)}
        cells = [texts[cell] for cell in cells]
    known = dict.fromkeys(cells)
    if len(known) == 1:
        return {"d": list(map(_json_cell, known)), "i": len(cells)}
    if len(known) * 4 <= len(cells):
        at = {cell: number for number, cell in enumerate(known)}
        return {"d": list(map(_json_cell, known)), "i": [at[cell] for cell in cells]}
    if column.kind == "text":
        return _templates([str(cell) for cell in cells])
    return {"v": list(map(_json_cell, cells))}


def _json_cell(cell: Cell) -> Any:
    """A cell as JSON; a number that JavaScript cannot represent becomes text, marked by `big`."""
    if isinstance(cell, float) and not isfinite(cell):
        return None
    return {"big": str(cell)} if isinstance(cell, int) and abs(cell) > EXACT else cell


def _templates(texts: Sequence[str]) -> dict[str, Any]:
    """`layers.3.mlp.7` → the template `layers.\\0.mlp.\\0`, and 3 and 7: names of one role share the template."""
    known: dict[str, int] = {}
    numbered = []
    for text in texts:
        # No string contains a NUL here: `escape` has made it visible.
        number = known.setdefault(_NUMBER.sub("\0", text), len(known))
        numbered.append([number, *map(int, _NUMBER.findall(text))])
    return {"t": list(known), "n": numbered}


def script_json(value: Any) -> str:
    """JSON that can neither end a script nor begin markup: `<`, `>`, `&` and all beyond ASCII as `\\u….`."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# --- plotly's script, from its wheel ----------------------------------------------------------------

#: Where the script adds a style sheet unless an element of that name exists: one for maps, which no page has.
_STYLES = re.compile(r'getElementById\("([0-9a-f]{40,64})"\)')
_PLOTLY_VERSION = re.compile(r"plotly\.js v([\w.+-]{1,40})")


class PlotlyScript(NamedTuple):
    """The script for a page."""

    text: str
    version: str
    styles: tuple[str, ...]  # names of style sheets that it would add but a page's policy refuses


def plotly_script() -> PlotlyScript:
    """Raises UsageError if plotly is not installed."""
    text = _plotly_path().read_text("utf-8")
    version = _PLOTLY_VERSION.search(text[:1000])
    return PlotlyScript(text, version[1] if version else "of unknown version", tuple(set(_STYLES.findall(text))))


def check_plotly() -> None:
    """Raises UsageError if plotly is not installed; reads nothing."""
    _plotly_path()


def _plotly_path() -> Path:
    """plotly itself is not imported, because that takes a tenth of a second."""
    found = find_spec("plotly")
    path = Path(found.origin).parent / "package_data/plotly.min.js" if found and found.origin else None
    if path is None or not path.is_file():
        raise missing()
    return path
