"""A waterfall's bars without a script: shown while a browser compiles plotly, or if no script runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.plots.figure import Chart

_THINNEST = 0.1  # percent of the width, just visible


def bars(chart: Chart) -> str:
    """A line for each bar, with its name; empty for charts of other kinds."""
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
