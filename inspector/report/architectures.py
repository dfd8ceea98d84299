"""`inspect architectures` for people: a line a model type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.architectures import Known
from inspector.report.columns import table
from inspector.units import plural

_HEADERS = ("model type", "family", "GGUF", "keyed %", "default %", "changed %")


def lines(known: Iterable[Known]) -> Iterator[str]:
    """Each model type with its family, GGUF's names for it, and what was checked in percent."""
    rows = [
        (each.model_type, each.module, ", ".join(each.gguf), *map(_percent, (each.keyed, each.default, each.changed)))
        for each in known
    ]
    yield table(rows, _HEADERS, "lllrrr")
    yield f"{plural(len(rows), 'model type')} in {len({row[1] for row in rows})} families"


def _percent(number: int | None) -> str:
    return "–" if number is None else str(number)
