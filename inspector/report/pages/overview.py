"""The page of `inspect TARGET --html FILE`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.model import Folder, Labelled, Reconciliation
from inspector.plots import bridge_bars, byte_map, layer_map
from inspector.report import text
from inspector.report.documents import tensor
from inspector.report.pages.parts import Cell, Column, Findings, Page, Part, Section, Table, mood, of_rows
from inspector.report.tables import TENSORS, Rows
from inspector.units import plural

#: Columns by whose values tensors are filtered.
FILTERED = ("role", "group", "tower", "branch", "dtype", "part", "file")
#: The most important columns are on the left.
_ORDER = (
    *("name", "role", "layer", "expert", "dtype", "shape", "parameters", "bytes"),
    *("group", "tower", "branch", "part", "file", "offset"),
)


def page(result: Reconciliation, folder: Folder | None = None) -> Page:
    """The overview, with charts and every tensor."""
    result = result._replace(
        model=result.model._replace(tensors=tuple(result.tensors))
    )  # made once, and used by every chart
    charts = [
        Section("From label to disk", [bridge_bars.chart(result)]),  # a few bars, which render immediately
        Section("Where the bytes are", [byte_map.chart(result)]),
        Section("Layer by layer", [layer_map.chart(result)]),
    ]
    verdict, *facts = text.first_lines(result, folder)
    return Page(
        result.checkpoint.title,
        verdict,
        (
            Section("Findings", [Findings(result.findings)]),
            *(charts if any(each.tensor.nbytes for each in result.tensors) else ()),
            Section("Counted", list(_counted(result))),
            Section("Tensors", [tensors(result.tensors)]),
        ),
        facts,
        mood(result.findings),
    )


def _counted(result: Reconciliation) -> Iterable[Part]:
    counted = (*text.parameter_rows(result), *text.claim_rows(result))
    rows = [(what.strip(), number, why) for what, number, why in counted]
    yield Table("What was counted", (Column("what"), Column("number", "number"), Column("")), rows)
    yield as_table("Roles", *text.role_rows(result), numeric=("tensors", "parameters", "bytes", "bits"))
    files: list[tuple[Cell, ...]] = [
        (each.path, len(each.tensors), each.size, *map(each.bytes_in, _REGIONS)) for each in result.checkpoint.files
    ]
    columns = (Column("file"), Column("tensors", "number"), Column("bytes", "number"))
    yield Table(
        plural(len(files), "weight file"), (*columns, *(Column(f"{each} bytes", "number") for each in _REGIONS)), files
    )


_REGIONS = ("header", "tensors", "padding", "unused")


def as_table(caption: str, headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[str] = ()) -> Table:
    """A terminal's table, without columns that have no header."""
    kept = [at for at, header in enumerate(headers) if header]
    columns = [Column(headers[at], "number" if headers[at] in numeric else "text") for at in kept]
    return Table(caption, columns, [[row[at] for at in kept] for row in rows])


def tensors(listed: Sequence[Labelled]) -> Table:
    """One row per tensor, with all columns of `inspect tensors --csv`."""
    columns = sorted(TENSORS, key=lambda column: _ORDER.index(column.name))
    return of_rows(plural(len(listed), "tensor"), Rows(tuple(columns), list(map(tensor, listed))), FILTERED)
