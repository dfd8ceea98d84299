"""Two checkpoints, layers × roles: what differs and, if values were compared, by how much."""

from __future__ import annotations

from typing import NamedTuple

from inspector.bridge.breakdown import Place, axes, place_of
from inspector.comparing.agreement import Data, Sums, added
from inspector.comparing.diff import Diff
from inspector.comparing.pairing import Pair
from inspector.plots.figure import Chart
from inspector.plots.layer_map import numbers, places, words
from inspector.units import integer, plural

_STATUSES = {"same": "same", "dtype": "dtype", "shape": "shape", "only_a": "only in a", "only_b": "only in b"}
_AGREEMENTS = {"equal": "equal", "rounded": "rounded", "different": "different"}


class _Crossing(NamedTuple):
    """The pairs of one role in one layer."""

    tensors: int
    status: str  # every status that occurs
    agreement: str
    sums: Sums | None  # None if no values were compared

    @property
    def distance(self) -> float | None:
        """‖a − b‖ / ‖a‖; nothing was summed for equal values."""
        return 0.0 if self.agreement == "equal" else self.sums.relative if self.sums else None


def chart(result: Diff) -> Chart:
    """A heat map of statuses; if values were compared, also of ‖a − b‖ / ‖a‖ and of their agreement."""
    found = axes((pair.key for pair in result.pairs), (*result.a.roles, *result.b.roles))
    members: dict[Place, list[tuple[Pair, Data | None]]] = {}
    for pair, data in zip(result.pairs, result.data or [None] * len(result.pairs), strict=True):
        members.setdefault(place_of(pair.key), []).append((pair, data))
    cells = {place: _crossing(own) for place, own in members.items()}
    texts = {place: _hover(cell) for place, cell in cells.items()}
    views = [("status", words(found, {place: cell.status for place, cell in cells.items()}, texts))]
    if result.data is not None:
        distances = {place: cell.distance for place, cell in cells.items()}
        agreements = {place: cell.agreement for place, cell in cells.items() if cell.agreement}
        apart = numbers(found, distances, texts, "{:.3g}".format)
        views = [("distance", apart), ("values", words(found, agreements, texts)), *views]
    counts = ", ".join(f"{integer(number)} {_STATUSES[status]}" for status, number in result.counts.items() if number)
    return Chart(
        "Differences by layer and role",
        f"{plural(len(result.pairs), 'pair')} of tensors: {counts}",
        views,
        ("layer", "role", "tensors", "status", "values", "‖a−b‖/‖a‖", "at most"),
        [_row(place, cells[place]) for place in places(found, cells)],
    )


def _crossing(members: list[tuple[Pair, Data | None]]) -> _Crossing:
    compared = [data for _, data in members if data and data.status]
    return _Crossing(
        len(members),
        " + ".join(word for status, word in _STATUSES.items() if any(pair.status == status for pair, _ in members)),
        " + ".join(word for status, word in _AGREEMENTS.items() if any(data.status == status for data in compared)),
        added(data.sums for data in compared) if compared else None,
    )


def _row(place: Place, cell: _Crossing) -> tuple[str | int | float | None, ...]:
    return (*place, cell.tensors, cell.status, cell.agreement, cell.distance, cell.sums.max_abs if cell.sums else None)


def _hover(cell: _Crossing) -> str:
    text = f"{cell.status}, {plural(cell.tensors, 'tensor')}"
    if cell.sums:
        distance = "" if cell.distance is None else f", ‖a−b‖/‖a‖ {cell.distance:.3g}"
        text += f", {cell.agreement}{distance}, at most {cell.sums.max_abs:.3g}"
    return text
