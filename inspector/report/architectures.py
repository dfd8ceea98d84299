"""`inspect architectures` as text: one line per model type, and one per GGUF architecture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.architectures import Known, KnownGguf
from inspector.report.columns import table
from inspector.report.documents import architecture
from inspector.report.tables import Column, Rows
from inspector.units import plural

_HEADERS = ("model type", "family", "GGUF", "keyed %", "default %", "changed %", "drawn %")


def lines(known: Iterable[Known], gguf: Iterable[KnownGguf]) -> Iterator[str]:
    """Each model type with its family, GGUF's names for it, and its coverage in percent."""
    rows = [
        (
            each.model_type,
            each.table,
            ", ".join(each.gguf),
            *map(_percent, (each.keyed, each.default, each.changed, each.drawn)),
        )
        for each in known
    ]
    yield table(rows, _HEADERS, "lllrrrr")
    yield f"{plural(len(rows), 'model type')} in {len({row[1] for row in rows})} families"
    yield ""
    architectures = [
        (each.architecture, each.model_type or "–", "from key-values" if each.predicted else "names only")
        for each in gguf
    ]
    yield table(architectures, ("GGUF architecture", "model type", "prediction"), "lll")
    predicted = sum(row[2] == "from key-values" for row in architectures)
    yield f"{plural(len(architectures), 'GGUF architecture')}, {predicted} predicted from key-values"


COLUMNS = (
    Column("model_type", "string"),
    Column("family", "string"),
    Column("gguf", "list<string>"),
    *(Column(f"{what}_percent", "int64") for what in ("keyed", "exact_default", "exact_changed", "exact_drawn")),
)


def rows(known: Iterable[Known]) -> Rows:
    """One row per model type."""
    return Rows(COLUMNS, list(map(architecture, known)))


def _percent(number: int | None) -> str:
    return "–" if number is None else str(number)
