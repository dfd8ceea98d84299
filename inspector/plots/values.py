"""Statistics of tensors' numbers: layers × roles, and histograms of tensors or of groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.bridge.breakdown import Place, axes, place_of
from inspector.measuring.statistics import Histogram, Summary, pooled
from inspector.measuring.values import Row, Values
from inspector.plots.figure import LINE, PALETTE, Chart, caption, drawn, label, rect, share, stroke
from inspector.plots.layer_map import numbers, places
from inspector.units import integer, plural


def by_place(found: Values) -> Chart:
    """A heat map with a cell for each layer and role, for values grouped by tensor."""
    members: dict[Place, list[Row]] = {}
    for row in found.rows:
        members.setdefault(place_of(row.tensors[0].key), []).append(row)
    cells = {place: pooled(row.summary for row in rows) for place, rows in members.items()}
    texts = {place: _hover(cell, len(members[place])) for place, cell in cells.items()}
    across = axes((row.tensors[0].key for row in found.rows), found.result.roles)
    odd = {place: cell.nan + cell.inf for place, cell in cells.items()}
    deviations = {place: cell.std for place, cell in cells.items()}
    magnitudes = {place: cell.largest for place, cell in cells.items()}
    views = [
        ("deviation", numbers(across, deviations, texts, "{:.3g}".format)),
        ("largest", numbers(across, magnitudes, texts, "{:.3g}".format)),
    ]
    if any(odd.values()):
        views.insert(0, ("NaN and infinity", numbers(across, odd, texts, "{:.0f}".format)))
    return Chart(
        "Deviation by layer and role",
        f"{plural(len(found.rows), 'tensor')}; NaN or infinity in "
        f"{plural(sum(map(bool, odd.values())), 'cell')} of layer and role",
        views,
        ("layer", "role", "tensors", "deviation", "mean", "min", "max", "NaN", "infinite"),
        [(*place, len(members[place]), *_numbers(cells[place])) for place in places(across, cells)],
    )


def _numbers(cell: Summary) -> tuple[float | None, ...]:
    return (cell.std, cell.mean, cell.min, cell.max, cell.nan, cell.inf)


def _hover(cell: Summary, tensors: int) -> str:
    parts = [plural(tensors, "tensor")]
    parts += [
        f"{name} {value:.4g}"
        for name, value in (("deviation", cell.std), ("largest", cell.largest))
        if value is not None
    ]
    parts += [f"{integer(number)} {name}" for name, number in (("NaN", cell.nan), ("infinite", cell.inf)) if number]
    return ", ".join(parts)


#: The most histograms that are drawn.
MOST_HISTOGRAMS = 8
_HEIGHT = 70  # pixels of one


def histogram(found: Values) -> Chart:
    """Bars for each of the first rows, below each other; rows with NaN or infinity before the others."""
    odd_first = sorted(found.rows, key=lambda row: not (row.summary.nan or row.summary.inf))
    kept = [(row.name, row.summary.histogram) for row in odd_first if row.summary.histogram][:MOST_HISTOGRAMS]
    summary = (
        f"Numbers of {integer(len(kept))} of {plural(len(found.rows), 'row')}, in equal bins across four deviations"
    )
    return Chart(
        "Histogram",
        summary,
        [("", drawn(_histograms(kept), summary, len(kept) * (_HEIGHT + 3 * LINE)))],
        ("of", "from", "to", "numbers"),
        [each for name, histogram in kept for each in _bins(name, histogram)],
    )


def _histograms(shown: Sequence[tuple[str, Histogram]]) -> Iterator[str]:
    for number, (name, found) in enumerate(shown):
        top, bins = number * (_HEIGHT + 3 * LINE), list(_bins(name, found))
        most = max(found.counts, default=0) or 1
        yield caption(0, top + LINE - 4, label(name, 60))
        bottom = top + LINE + _HEIGHT
        for at, (_, low, high, count) in enumerate(bins):
            height = round(count / most * _HEIGHT, 1)
            title = f"from {_number(low)} to {_number(high)}: {integer(count)} numbers"
            x, width = share(at, len(bins)), share(1, len(bins))
            yield rect(x, bottom - height, width, height, PALETTE[0], title)
        yield stroke(("0", bottom, "100%", bottom))
        yield caption(0, bottom + LINE - 3, _number(found.edges[0]), faint=True)
        yield caption("100%", bottom + LINE - 3, _number(found.edges[-1]), anchor="end", faint=True)


def _number(number: float) -> str:
    return f"{number:.4g}".replace("-", "\N{MINUS SIGN}")


def _bins(name: str, found: Histogram) -> list[tuple[str, float, float, int]]:
    edges = zip(found.edges, found.edges[1:], found.counts, strict=False)
    return [(name, low, high, count) for low, high, count in edges]
