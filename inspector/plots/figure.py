"""The parts of every chart: plotly's traces as plain dictionaries, and the same numbers in words and as a table.

A page needs only plotly's script; only `as_figure`, for use in Python, imports plotly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape as as_text
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.errors import UsageError, install_command
from inspector.units import escape

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Colours that people with red-green colour blindness can distinguish (Okabe and Ito), on white and on black.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#F0E442")
_LAYOUT: Mapping[str, Any] = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "colorway": list(PALETTE),
    "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    "showlegend": False,
}


class Chart(NamedTuple):
    """One chart."""

    title: str
    summary: str  # one sentence that says what the chart shows, for those who cannot see it
    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    headers: tuple[str, ...]  # of the table with the chart's numbers
    rows: Sequence[tuple[str | int | float | None, ...]]
    views: tuple[str, ...] = ()  # names of the traces, if one is shown at a time
    height: int = 420  # pixels


def chart_layout(**own: Any) -> dict[str, Any]:
    """A layout with the settings common to all charts."""
    return {**_LAYOUT, **own}


def label(text: str, limit: int = 80) -> str:
    """Text from a file, escaped for plotly, which treats `<b>`, `<a href>` and entities as markup."""
    return as_text(escape(text, limit), quote=False)


def missing() -> UsageError:
    """That plotly is not installed, and how to."""
    return UsageError(f"plotly is not installed: `{install_command('plots')}`")


def as_figure(chart: Chart) -> go.Figure:
    """The chart as plotly's object, which notebooks show. Raises UsageError if plotly is not installed."""
    try:
        import plotly.graph_objects as go  # optional; takes a tenth of a second
    except ImportError as error:
        raise missing() from error
    layout = {**chart.layout, "title": {"text": label(chart.title, 200)}, "height": chart.height}
    layout["margin"] = {**layout["margin"], "t": 56}
    traces = [dict(trace) for trace in chart.traces]
    if chart.views:
        layout["updatemenus"] = [_menu(chart.views)]
        traces = [{**trace, "visible": number == 0} for number, trace in enumerate(traces)]
    return go.Figure({"data": traces, "layout": layout})


def _menu(views: Sequence[str]) -> dict[str, Any]:
    """Buttons that show one trace at a time."""
    buttons = [
        {"label": view, "method": "restyle", "args": [{"visible": [each == view for each in views]}]} for view in views
    ]
    return {"type": "buttons", "direction": "right", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"} | {
        "buttons": buttons
    }
