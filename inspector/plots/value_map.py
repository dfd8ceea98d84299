"""Statistics of tensors' numbers, layers × roles: deviation, largest magnitude, NaN and infinity."""

from __future__ import annotations

from inspector.bridge.breakdown import Place, axes, place_of
from inspector.measuring.statistics import Summary, pooled
from inspector.measuring.values import Row, Values
from inspector.plots.figure import Chart, label
from inspector.plots.layer_map import axes_layout, chart_height, numbers, places
from inspector.units import integer, plural


def chart(found: Values) -> Chart:
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
