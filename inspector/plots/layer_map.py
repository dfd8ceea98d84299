"""Layers × roles: bits per weight, bytes, and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import isfinite
from typing import Any

from inspector.bridge.breakdown import Axes, Cell, Grid, Place, grid
from inspector.model import Reconciliation
from inspector.plots.figure import PALETTE, Chart, chart_layout, label
from inspector.units import bits, integer, plural

#: The most rows and columns that are distinguishable; the table of tensors has the rest.
MOST_ROWS, MOST_COLUMNS = 400, 120
_ROW = 14  # pixels


def chart(result: Reconciliation) -> Chart:
    """A heat map of bits per weight, bytes or dtypes."""
    found = grid(result.tensors, result.roles)
    views = {
        "bits": numbers(found.axes, {place: cell.bits for place, cell in found.cells.items()}, _hover(found)),
        "bytes": numbers(found.axes, {place: cell.bytes for place, cell in found.cells.items()}, _hover(found)),
        "dtype": words(found.axes, {place: _dtypes(cell) for place, cell in found.cells.items()}, _hover(found)),
    }
    cells = [(row, column, found.cells[row, column]) for row, column in places(found.axes, found.cells)]
    return Chart(
        "Layers and roles",
        f"{plural(len(found.axes.rows), 'row')} of layers by {plural(len(found.axes.columns), 'role')}: "
        f"stored as {', '.join(dict.fromkeys(_dtypes(cell) for *_, cell in cells[:1000]))}"[:300],
        list(views.values()),
        axes_layout(found.axes),
        ("layer", "role", "tensors", "parameters", "bytes", "bits per weight", "dtype"),
        [
            (row, column, c.tensors, c.parameters, c.bytes, None if c.bits is None else bits(c.bits), _dtypes(c))
            for row, column, c in cells
        ],
        tuple(views),
        height=chart_height(found.axes),
    )


def places(found: Axes, values: Container[Place]) -> list[Place]:
    """The shown cells, row by row."""
    shown = [(row, column) for row in found.rows[:MOST_ROWS] for column in found.columns[:MOST_COLUMNS]]
    return [place for place in shown if place in values]


def chart_height(found: Axes) -> int:
    """Pixels that keep every row visible and the names of the columns legible."""
    return 170 + _ROW * max(12, min(len(found.rows), MOST_ROWS))


def numbers(found: Axes, values: Mapping[Place, float | None], texts: Mapping[Place, str]) -> dict[str, Any]:
    """One trace of numbers, shown as colours."""
    most = max((value for value in values.values() if value is not None and isfinite(value)), default=0)
    trace = {"colorscale": "Cividis", "colorbar": _bar(), "zmin": 0, "zmax": most or 1}
    return {**_trace(found, values.get, texts), **trace}


def words(found: Axes, values: Mapping[Place, str], texts: Mapping[Place, str]) -> dict[str, Any]:
    """One trace of words, each with its own colour."""
    known = list(dict.fromkeys(values[place] for place in places(found, values)))
    numbered = {word: number for number, word in enumerate(known)}
    steps = len(known) or 1
    colours = [
        [edge / steps, PALETTE[number % len(PALETTE)]] for number in range(steps) for edge in (number, number + 1)
    ]
    ticks = {"tickmode": "array", "tickvals": list(range(steps)), "ticktext": [label(word, 24) for word in known]}
    return {
        **_trace(found, lambda place: numbered.get(values.get(place, "")), texts),
        "colorscale": colours,
        "zmin": -0.5,
        "zmax": steps - 0.5,
        "colorbar": {**_bar(), **ticks},
    }


def _bar() -> dict[str, Any]:
    return {"thickness": 10, "outlinewidth": 0, "orientation": "h", "y": -0.02, "yanchor": "top"}


def _trace(found: Axes, value: Callable[[Place], float | None], texts: Mapping[Place, str]) -> dict[str, Any]:
    rows, columns = found.rows[:MOST_ROWS], found.columns[:MOST_COLUMNS]
    return {
        "type": "heatmap",
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "z": [[_finite(value((row, column))) for column in columns] for row in rows],
        "customdata": [[texts.get((row, column), "") for column in columns] for row in rows],
        "hovertemplate": "%{customdata}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def axes_layout(found: Axes) -> dict[str, Any]:
    """Axes with the names of layers downwards and of roles on top."""
    rows, columns = found.rows[:MOST_ROWS], found.columns[:MOST_COLUMNS]
    every = max(1, len(rows) // 40)  # names that fit
    return chart_layout(
        yaxis={**_names(rows, every), "autorange": "reversed"},
        xaxis={**_names(columns, 1), "side": "top", "tickangle": -60},
    )


def _names(words: Sequence[str], every: int) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(range(0, len(words), every)),
        "ticktext": [label(word, 28) for word in words[::every]],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def _hover(found: Grid) -> dict[Place, str]:
    return {
        (row, column): f"{label(row)}: {label(column)}<br>{integer(cell.bytes)} bytes in "
        f"{plural(cell.tensors, 'tensor')}, {label(_dtypes(cell))}"
        + ("" if cell.bits is None else f"<br>{bits(cell.bits)} bits per weight")
        for (row, column), cell in found.cells.items()
    }


def _dtypes(cell: Cell) -> str:
    return " + ".join(cell.dtypes[:3]) + ("…" if len(cell.dtypes) > 3 else "")
