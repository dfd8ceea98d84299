"""A page → self-contained HTML: no network, no styles or scripts but its own, all text from files escaped."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape as escape_html
from importlib.resources import files
from platform import python_version
from typing import Any

from inspector.plots.figure import Chart
from inspector.report.pages import packed, plotly_script, sketch
from inspector.report.pages.parts import MOST_CHOICES, Cell, Column, Findings, Page, Part, Report, Section, Table, Text
from inspector.units import escape, integer, plural
from inspector.version import __version__

#: Rows up to which a table is written out, and needs no script.
PLAIN = 60
#: Records when the content above plotly's script has been painted.
_SEEN = 'requestAnimationFrame(() => setTimeout(() => performance.mark("seen")));'
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
    data: dict[str, Any] = {"tables": {}, "charts": {}}
    body = "\n".join(_section(section, number, data) for number, section in enumerate(page.sections))
    style, own = _asset("page.css"), _asset("page.js")
    plotly = plotly_script.load() if page.charts else None
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
            _header(page),
            f'<main id="main">{body}</main>',
            _footer(command, plotly.version if plotly else None),
            _json("charts", data),
            *(f"<script>{each}</script>" for each in scripts),
            _json("tables", data),  # megabytes, parsed when the first chart is drawn
            "</body></html>\n",
        )
    )


def _json(name: str, data: dict[str, Any]) -> str:
    return f'<script type="application/json" id="{name}">{packed.script_json(data[name])}</script>'


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
        f'<header><h1>{_text(page.title, 200)}</h1><p class="verdict {page.mood}">{_text(page.verdict)}</p>{lines}'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        '<button id="theme" type="button" hidden>Dark</button></header>'
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
        "columns": packed.columns(table.columns, table.rows),
    }
    return f'<div class="long" id="{own}"><p>{_text(table.caption)}</p></div>'


def _plain(table: Table) -> str:
    heads = "".join(f'<th scope="col"{_numeric(column)}>{_text(column.name)}</th>' for column in table.columns)
    rows = "".join(f"<tr>{''.join(_cells(table.columns, row))}</tr>" for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.caption, 200)}"><table>'
        f"<caption>{_text(table.caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cells(columns: Sequence[Column], row: Sequence[Cell]) -> Iterator[str]:
    for column, cell in zip(columns, row, strict=True):
        severity = f' class="{cell}"' if column.name == "severity" and cell in _SEVERITIES else ""
        yield f"<td{_numeric(column) or severity}>{_cell(cell)}</td>"


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
    columns = [_column(name, [row[at] for row in chart.rows]) for at, name in enumerate(chart.headers)]
    numbers = _table(Table(f"{chart.title}: the numbers", columns, chart.rows), data)
    return (
        f'<figure><figcaption>{_text(chart.title)}</figcaption><div class="views" id="{own}-views"></div>'
        f'<div role="img" aria-label="{_text(chart.summary)}">'
        f'<div class="chart" id="{own}" aria-hidden="true">{sketch.bars(chart)}</div></div>'
        f"<p>{_text(chart.summary)}</p><details><summary>The numbers as a table</summary>{numbers}</details></figure>"
    )


def _column(name: str, cells: Sequence[Cell]) -> Column:
    if any(isinstance(cell, (int, float)) for cell in cells):
        return Column(name, "number")
    return Column(name, filtered=1 < len(set(cells)) <= MOST_CHOICES)
