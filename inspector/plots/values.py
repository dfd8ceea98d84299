"""Statistics of tensors' numbers: layers × roles, and histograms of tensors or of groups of them."""

from __future__ import annotations

from inspector.bridge.breakdown import Place, axes, place_of
from inspector.measuring.statistics import Histogram, Summary, pooled
from inspector.measuring.values import Row, Values
from inspector.plots.figure import Chart, chart_layout, label
from inspector.plots.layer_map import axes_layout, chart_height, numbers, places
from inspector.units import integer, plural


def by_place(found: Values) -> Chart:
    """A heat map with a cell for each layer and role, for values grouped by tensor."""
    members: dict[Place, list[Row]] = {}
    for row in found.rows:
        members.setdefault(place_of(row.tensors[0].key), []).append(row)
    cells = {place: pooled(row.summary for row in rows) for place, rows in members.items()}
    texts = {place: _hover(place, cell, len(members[place])) for place, cell in cells.items()}
    across = axes((row.tensors[0].key for row in found.rows), found.result.roles)
    odd = {place: cell.nan + cell.inf for place, cell in cells.items()}
    views = {
        "deviation": numbers(across, {place: cell.std for place, cell in cells.items()}, texts),
        "largest": numbers(across, {place: cell.largest for place, cell in cells.items()}, texts),
    }
    if any(odd.values()):
        views["no numbers"] = numbers(across, odd, texts)
    return Chart(
        "Deviation by layer and role",
        f"{plural(len(found.rows), 'tensor')}, of which {integer(sum(map(bool, odd.values())))} cells of layer and "
        "role have NaN or infinity",
        list(views.values()),
        axes_layout(across),
        ("layer", "role", "tensors", "deviation", "mean", "min", "max", "NaN", "infinite"),
        [(*place, len(members[place]), *_numbers(cells[place])) for place in places(across, cells)],
        tuple(views),
        height=chart_height(across),
    )


def _numbers(cell: Summary) -> tuple[float | None, ...]:
    return (cell.std, cell.mean, cell.min, cell.max, cell.nan, cell.inf)


def _hover(place: Place, cell: Summary, tensors: int) -> str:
    lines = [f"{label(place[0])}: {label(place[1])}, {plural(tensors, 'tensor')}"]
    lines += [
        f"{name} {value:.4g}"
        for name, value in (("deviation", cell.std), ("largest", cell.largest))
        if value is not None
    ]
    lines += [f"{integer(number)} {name}" for name, number in (("NaN", cell.nan), ("infinite", cell.inf)) if number]
    return "<br>".join(lines)


#: The most histograms that are distinguishable.
MOST_HISTOGRAMS = 8


def histogram(found: Values) -> Chart:
    """A step line for each of the first rows."""
    shown = [(row, row.summary.histogram) for row in found.rows if row.summary.histogram][:MOST_HISTOGRAMS]
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "line": {"shape": "hv"},
            "fill": "tozeroy" if len(shown) == 1 else "none",
            "name": label(row.name, 60),
            "x": list(histogram.edges),
            "y": [*histogram.counts, 0],
            "hovertemplate": "from %{x:.4g}: %{y:,} numbers<extra>%{fullData.name}</extra>",
        }
        for row, histogram in shown
        if histogram
    ]
    return Chart(
        "Histogram",
        f"Numbers of {integer(len(shown))} of {plural(len(found.rows), 'row')}, in equal bins across four deviations",
        traces,
        chart_layout(
            showlegend=len(shown) > 1,
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
            yaxis={"rangemode": "tozero", "tickformat": ".3~s", "automargin": True},
            xaxis={"automargin": True},
        ),
        ("of", "from", "to", "numbers"),
        [each for row, histogram in shown if histogram for each in _bins(row.name, histogram)],
    )


def _bins(name: str, histogram: Histogram) -> list[tuple[str | float | int, ...]]:
    edges = zip(histogram.edges, histogram.edges[1:], histogram.counts, strict=False)
    return [(name, low, high, count) for low, high, count in edges]
