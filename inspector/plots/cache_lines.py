"""Memory over the context: weights, cache and activations together, with the devices' capacity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.plots.figure import PALETTE, Chart, chart_layout, label
from inspector.sizing.devices import DEVICES
from inspector.sizing.memory import Memory, at_context, cache_types, contexts
from inspector.units import decimal, integer, plural

#: Types of cache that are drawn, the requested one first; and devices, if none was named.
MOST_TYPES, MOST_DEVICES = 4, 5


class _Line(NamedTuple):
    """The capacity of a device, or of several."""

    name: str
    nbytes: int


def chart(result: Memory) -> Chart:
    """Lines that grow with the context, one per type of cache, and a level for each device."""
    curves = _curves(result)
    lines = list(_devices(result, [each.total for curve in curves.values() for each in curve]))
    own = next(iter(curves.values()))
    rows = [(name, each.request.context, each.cache, each.total) for name, curve in curves.items() for each in curve]
    devices = f"; {', '.join(f'{each.name} {decimal(each.nbytes)}' for each in lines)}" if lines else ""
    return Chart(
        "Memory by context length",
        f"{decimal(own[0].total)} at {plural(own[0].request.context, 'token')}, {decimal(own[-1].total)} at "
        f"{integer(own[-1].request.context)}, with a cache in {next(iter(curves))}{devices}",
        [*(_curve(name, curve) for name, curve in curves.items()), *_levels(lines, own)],
        chart_layout(
            showlegend=True,
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
            xaxis={
                "type": "log",
                "tickmode": "array",
                "tickvals": [each.request.context for each in own],
                "ticktext": [integer(each.request.context) for each in own],
                "title": {"text": "tokens of context"},
                "automargin": True,
            },
            yaxis={"rangemode": "tozero", "tickformat": ".3~s", "ticksuffix": "B", "automargin": True},
        ),
        ("cache type", "context", "cache bytes", "total bytes"),
        rows,
        height=460,
    )


def _curves(result: Memory) -> dict[str, list[Memory]]:
    """Cache type → its curve."""
    named = {
        keys.name if keys == values else f"{keys.name}, {values.name}": (keys, values)
        for keys, values in cache_types(result)[:MOST_TYPES]
    }
    return {name: [at_context(result, tokens, *each) for tokens in contexts(result)] for name, each in named.items()}


def _devices(result: Memory, totals: list[int]) -> Iterator[_Line]:
    """The named devices together; else some common ones around the required size."""
    rooms = [each.room for each in result.devices if each.room is not None]
    if rooms:
        names = dict.fromkeys(each.device.name for each in result.devices if each.device)
        several = f"{len(rooms)} × " if len(rooms) > 1 else ""
        yield _Line(f"{several}{', '.join(names)}, usable", sum(rooms))
        return
    near = {each.nbytes: each.name for each in DEVICES.values() if min(totals) // 2 <= each.nbytes <= max(totals) * 3}
    sizes = sorted(near)
    for nbytes in sizes[:: max(1, -(-len(sizes) // MOST_DEVICES))]:
        yield _Line(near[nbytes], nbytes)


def _curve(name: str, curve: list[Memory]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": f"cache in {label(name, 30)}",
        "x": [each.request.context for each in curve],
        "y": [each.total for each in curve],
        "customdata": [
            f"{integer(each.total)} bytes in total<br>"
            + ("cache unknown" if each.cache is None else f"{integer(each.cache)} bytes of cache")
            for each in curve
        ],
        "hovertemplate": "%{x:,} tokens<br>%{customdata}<extra>%{fullData.name}</extra>",
    }


def _levels(lines: list[_Line], curve: list[Memory]) -> Iterator[dict[str, Any]]:
    ends = [curve[0].request.context, curve[-1].request.context]
    for number, each in enumerate(lines):
        yield {
            "type": "scatter",
            "mode": "lines",
            "name": f"{label(each.name, 60)}: {decimal(each.nbytes)}",
            "x": ends,
            "y": [each.nbytes] * 2,
            "line": {"dash": "dash", "width": 1.5, "color": PALETTE[5 - number % 6]},
            "hovertemplate": f"{label(each.name, 60)}: {integer(each.nbytes)} bytes<extra></extra>",
        }
