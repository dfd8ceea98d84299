"""The bridge: from the stated size to the bytes on disk, one bar per step."""

from __future__ import annotations

from inspector.bridge.ledger import bridge_rows
from inspector.model import Reconciliation
from inspector.plots.figure import PALETTE, Chart, chart_layout, label
from inspector.units import integer, signed


def chart(result: Reconciliation) -> Chart:
    """A waterfall of the steps, downwards; the last bar is the bytes on disk."""
    rows = list(bridge_rows(result))
    shown = [signed(nbytes) if step else integer(nbytes) for nbytes, step, *_ in rows]
    # A cause may occur twice, which an axis of names would not show: the bars have numbers, `ticktext` the names.
    places = list(range(len(rows)))
    trace = {
        "type": "waterfall",
        "orientation": "h",
        "y": places,
        "x": [nbytes for nbytes, *_ in rows],
        "measure": ["relative" if step else "absolute" for _, step, *_ in rows],
        "customdata": [
            f"{label(what)}<br>{number} bytes" + (f"<br>{label(why, 200)}" if why else "")
            for number, (_, _, what, why) in zip(shown, rows, strict=True)
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "totals": {"marker": {"color": PALETTE[6]}},
        "increasing": {"marker": {"color": PALETTE[5]}},
        "decreasing": {"marker": {"color": PALETTE[2]}},
        "connector": {"line": {"width": 1, "color": PALETTE[6]}},
    }
    layout = chart_layout(
        yaxis={
            "autorange": "reversed",
            "tickmode": "array",
            "tickvals": places,
            "ticktext": [f"{label(row[2], 32)}<br>{number}" for number, row in zip(shown, rows, strict=True)],
            "automargin": True,
            "fixedrange": True,
        },
        xaxis={"tickformat": ".3~s", "ticksuffix": "B", "automargin": True, "nticks": 6},
    )
    return Chart(
        "From the stated size to the bytes on disk",
        f"{rows[0][2]}, then {len(rows) - 2} steps to {integer(result.on_disk)} bytes on disk",
        [trace],
        layout,
        ("bytes", "step", "why"),
        [(text, what, why) for text, (_, _, what, why) in zip(shown, rows, strict=True)],
        height=70 + 36 * len(rows),
    )
