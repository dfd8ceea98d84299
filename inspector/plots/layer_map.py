"""Layers × roles: bits per weight, bytes, and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import groupby
from math import isfinite
from typing import Any

from inspector.bridge.breakdown import Axes, Cell, Grid, Place, grid
from inspector.model import Reconciliation
from inspector.plots.figure import CHARACTER, LINE, PALETTE, SCALE, Chart, caption, drawn, label, legend, rect
from inspector.units import bits, decimal, integer, plural

#: The most rows and columns that are distinguishable; the table of tensors has the rest.
MOST_ROWS, MOST_COLUMNS = 400, 120
#: Pixels of a cell, and characters of a name.
_ROW, _COLUMN, _NAME = 14, 26, 28


def chart(result: Reconciliation) -> Chart:
    """A heat map of bits per weight, bytes or dtypes."""
    found = grid(result.tensors, result.roles)
    hover = _hover(found)
    views = [
        ("bits", numbers(found.axes, {place: cell.bits for place, cell in found.cells.items()}, hover)),
        (
            "bytes",
            numbers(found.axes, {place: cell.bytes for place, cell in found.cells.items()}, hover, _bytes),
        ),
        ("dtype", words(found.axes, {place: _dtypes(cell) for place, cell in found.cells.items()}, hover)),
    ]
    cells = [(row, column, found.cells[row, column]) for row, column in places(found.axes, found.cells)]
    return Chart(
        "Layers and roles",
        f"{plural(len(found.axes.rows), 'row')} of layers by {plural(len(found.axes.columns), 'role')}: "
        f"stored as {', '.join(dict.fromkeys(_dtypes(cell) for *_, cell in cells[:1000]))}"[:300],
        views,
        ("layer", "role", "tensors", "parameters", "bytes", "bits per weight", "dtype"),
        [
            (row, column, c.tensors, c.parameters, c.bytes, None if c.bits is None else bits(c.bits), _dtypes(c))
            for row, column, c in cells
        ],
    )


def places(found: Axes, values: Container[Place]) -> list[Place]:
    """The shown cells, row by row."""
    shown = [(row, column) for row in found.rows[:MOST_ROWS] for column in found.columns[:MOST_COLUMNS]]
    return [place for place in shown if place in values]


def numbers(
    found: Axes, values: Mapping[Place, float | None], texts: Mapping[Place, str], unit: Callable[[Any], str] = bits
) -> str:
    """A map of numbers, shown as colours from 0 to the largest."""
    finite = {place: value for place, value in values.items() if value is not None and isfinite(value)}
    most = max(finite.values(), default=0) or 1
    last = len(SCALE) - 1
    colours = {place: SCALE[round(max(0.0, value) / most * last)] for place, value in finite.items()}
    steps = {unit(most * at / last): SCALE[at] for at in (last * 2 // 3, last // 3, last, 0)}  # the ends stay
    ends = [(colour, text) for text, colour in steps.items()]
    return _drawn(found, colours, texts, sorted(ends, key=lambda step: SCALE.index(step[0])))


def words(found: Axes, values: Mapping[Place, str], texts: Mapping[Place, str]) -> str:
    """A map of words, each with its own colour."""
    known = dict.fromkeys(values[place] for place in places(found, values))
    colour = {word: PALETTE[number % len(PALETTE)] for number, word in enumerate(known)}
    colours = {place: colour[values[place]] for place in places(found, values)}
    return _drawn(found, colours, texts, [(colour[word], word) for word in list(known)[: len(PALETTE)]])


def _drawn(
    found: Axes, colours: Mapping[Place, str], texts: Mapping[Place, str], steps: Sequence[tuple[str, str]]
) -> str:
    """Layers downwards and roles across, whose names stand on top; equal cells below each other are one."""
    rows, columns = found.rows[:MOST_ROWS], found.columns[:MOST_COLUMNS]
    left = round(CHARACTER * min(_NAME, max(map(len, rows), default=0))) + 8
    slant = CHARACTER * min(_NAME, max(map(len, columns), default=0)) * 0.7 + LINE
    top, every = round(slant), max(1, len(rows) // 40)
    bottom = top + len(rows) * _ROW
    parts = [
        f'<text transform="translate({left + at * _COLUMN + 12} {top - 5}) rotate(-45)">{label(name, _NAME)}</text>'
        for at, name in enumerate(columns)
    ]
    parts += [
        caption(left - 5, top + at * _ROW + 11, label(rows[at], _NAME), anchor="end")
        for at in range(0, len(rows), every)
    ]
    parts.append('<g stroke="#888888" stroke-opacity="0.6">')  # also dark cells have an edge on a dark page
    for at, column in enumerate(columns):
        cells = [(colours.get((row, column)), texts.get((row, column), "")) for row in rows]
        for (colour, text), run in groupby(range(len(rows)), cells.__getitem__):
            if colour:
                own = list(run)
                place = rows[own[0]] if len(own) == 1 else f"{rows[own[0]]}–{rows[own[-1]]}"
                x, y, height = left + at * _COLUMN, top + own[0] * _ROW, len(own) * _ROW - 1
                parts.append(rect(x, y, _COLUMN - 1, height, colour, f"{place}: {column}, {text}"))
    parts.append("</g>")
    parts += legend(steps, bottom + 10)
    width = round(left + len(columns) * _COLUMN + slant)
    spoken = f"{plural(len(rows), 'row')} of layers by {plural(len(columns), 'role')}"
    return drawn(parts, spoken, bottom + 16 + len(steps) * LINE, width)


def _hover(found: Grid) -> dict[Place, str]:
    return {
        place: f"{integer(cell.bytes)} bytes in {plural(cell.tensors, 'tensor')}, {_dtypes(cell)}"
        + ("" if cell.bits is None else f", {bits(cell.bits)} bits per weight")
        for place, cell in found.cells.items()
    }


def _dtypes(cell: Cell) -> str:
    return " + ".join(cell.dtypes[:3]) + ("…" if len(cell.dtypes) > 3 else "")


def _bytes(number: float) -> str:
    return decimal(round(number))
