"""Distributions of numbers: histograms of tensors, or of groups of them."""

from __future__ import annotations

from inspector.measuring.statistics import Histogram
from inspector.measuring.values import Values
from inspector.plots.figure import Chart, chart_layout, label
from inspector.units import integer, plural

#: The most histograms that are distinguishable.
MOST = 8


def chart(found: Values) -> Chart:
    """A step line for each of the first rows."""
    shown = [(row, row.summary.histogram) for row in found.rows if row.summary.histogram][:MOST]
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
