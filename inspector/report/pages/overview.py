"""The page of `inspect TARGET --html FILE`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.bridge.breakdown import by_layer
from inspector.model import Folder, Labelled, Reconciliation
from inspector.plots import bridge_bars, byte_map, drawing, layer_map
from inspector.report import screen, text
from inspector.report.documents import tensor
from inspector.report.pages.parts import Cell, Column, Findings, Page, Part, Section, Table, Text, mood, of_rows
from inspector.report.tables import TENSORS, Rows
from inspector.units import decimal, plural

#: Columns by whose values tensors are filtered.
FILTERED = ("role", "group", "tower", "branch", "dtype", "part", "file")
#: The most important columns are on the left.
_ORDER = "name role dtype shape bytes layer expert parameters group tower branch part file offset"


def page(result: Reconciliation, folder: Folder | None = None) -> Page:
    """The overview in the order of the first screen, with charts and every tensor."""
    result = result._replace(
        model=result.model._replace(tensors=tuple(result.tensors))
    )  # made once, and used by every chart
    charted = any(each.tensor.nbytes for each in result.tensors)
    headers, rows = screen.where(result)
    shares = as_table("Parts, the largest first", headers, rows, numeric=(headers[2], "%")) if rows else None
    title, steps = screen.why(result)
    bridge: list[Part] = [Table(title, (Column("", "text"), Column("")), steps)]
    found = [Section("Findings", [Findings(result.findings)])] if result.findings else []
    state = result.verdict.state
    return Page(
        result.checkpoint.title,
        screen.headline(result, folder),
        (
            *found,
            Section(
                "Where the bytes are", [*([shares] if shares else []), *([byte_map.chart(result)] if charted else [])]
            ),
            *([Section("The model", [drawing.drawing(result)])] if charted else []),
            Section("Why it is this size", [*bridge, *([bridge_bars.chart(result)] if charted else [])]),
            *([Section("Layer by layer", [_layers(result)])] if charted else []),
            Section("Counted", list(_counted(result))),
            Section("Tensors", [tensors(result.tensors)]),
        ),
        screen.facts_lines(result),
        mood(result.findings) if state == "complete" else "bad" if state == "damaged" else "warning",
    )


def _layers(result: Reconciliation) -> Part:
    """A map of the layers; a sentence where it would have one colour."""
    strips = by_layer(result.tensors)
    if not strips or any(len(strip.kinds) > 1 for strip in strips):
        return layer_map.chart(result)
    return Text(
        [
            f"{strip.tower}: {plural(len(strip.layers), 'layer')}, all alike, {decimal(strip.layers[0].bytes)} each"
            for strip in strips
        ]
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
    return of_rows(plural(len(listed), "tensor"), Rows(TENSORS, list(map(tensor, listed))), FILTERED, _ORDER)
