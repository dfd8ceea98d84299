"""A lone index → text for a terminal and JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspector.bridge.outline import Outline
from inspector.report.columns import table, wrapped
from inspector.report.documents import SCHEMA, architecture, fields, reconciliation
from inspector.report.pages.parts import Page, Report, Section
from inspector.report.tables import Rows, columns
from inspector.report.text import bridge
from inspector.units import escape, integer, plural, size

_NAME = 100  # characters of a name that are shown
MOST_NAMES = 4


def lines(target: str, found: Outline, width: int | None = None) -> str:
    """`inspect INDEX` if none of its files exists here."""
    head = (wrapped(line, width) for line in _summary(target, found))
    rows = [
        (" ".join(filter(None, (each.branch, each.role))), each.tower, each.group, integer(each.tensors))
        for each in found.roles
    ]
    listed = table(rows, ("role", "tower", "group", "tensors"), "lllr", width=width, give=((2, 0), (0, 16)))
    steps = f"\n\n{bridge(found.bridge, width)}" if found.bridge else ""
    return "\n".join(head) + f"\n\n{listed}{steps}"


def _summary(target: str, found: Outline) -> Iterator[str]:
    yield escape(target.rstrip("/").rsplit("/", 1)[-1], _NAME)
    tensors = plural(len(found.index.weight_map), "tensor")
    claimed = f"; total_size says {integer(found.claimed)} bytes" if found.claimed is not None else ""
    yield f"an index without its files: {tensors} in {plural(found.files, 'file')}, none of which is present{claimed}"
    if found.prediction is None:
        yield "no configuration next to it predicts the tensors: names without sizes"
        return
    predicted = found.prediction
    yield f"predicted: {integer(predicted.parameters)} parameters in {plural(predicted.tensors, 'tensor')}"
    if found.predicted is not None:
        off = "" if found.claimed is None else _off(found.predicted - found.claimed)
        yield f"           {integer(found.predicted)} bytes at {found.dtype} ({size(found.predicted)}){off}"
    yield _names("absent from the index", found.absent) or "every predicted tensor is in the index"
    if found.surplus:
        yield _names("in the index but not predicted", found.surplus)


def _off(nbytes: int) -> str:
    if not nbytes:
        return ", as total_size says"
    return f", {integer(abs(nbytes))} {'more' if nbytes > 0 else 'fewer'} than total_size"


def _names(what: str, names: Sequence[str]) -> str:
    shown = ", ".join(escape(name, _NAME) for name in names[:MOST_NAMES])
    return f"{what}: {plural(len(names), 'tensor')}: {shown}{'…' if len(names) > MOST_NAMES else ''}" if names else ""


def document(target: str, found: Outline) -> dict[str, Any]:
    """The same as JSON."""
    config, predicted = found.config, found.prediction
    return {
        "schema": SCHEMA,
        "target": target,
        "index": {
            "path": found.index.path,
            "files": found.files,
            "tensors": len(found.index.weight_map),
            "total_size": found.claimed,
        },
        "architecture": architecture(config, predicted.family if predicted else None),
        "parameters": {"predicted": predicted.parameters if predicted else None},
        "bytes": fields(found, "predicted dtype claimed"),
        "roles": [each._asdict() for each in found.roles],
        "reconciliation": _reconciliation(found),
        "absent": list(found.absent),
        "surplus": list(found.surplus),
    }


def _reconciliation(found: Outline) -> dict[str, Any] | None:
    """The bridge to the claimed total; null without one."""
    if found.bridge is not None:
        document = reconciliation(found.bridge)
        return {**document, "unexplained": {"bytes": found.bridge.unexplained_bytes, "tensors": list(found.surplus)}}
    if found.claimed is None:
        return None
    unexplained = {"bytes": found.claimed, "tensors": list(found.index.weight_map)}
    start = {"nominal": None, "predicted": None, "on_disk": found.claimed, "dtype": found.dtype}
    return {**start, "steps": [], "unexplained": unexplained}


COLUMNS = columns("role group tower branch tensors:uint64")


def rows(found: Outline) -> Rows:
    """One row per role."""
    return Rows(COLUMNS, [each._asdict() for each in found.roles])


def page(target: str, found: Outline) -> Page:
    """`inspect INDEX --html FILE`: as shown on a terminal."""
    title, _, rest = lines(target, found).partition("\n")
    return Page(title, rest.strip().partition("\n")[0], [Section("Report", [Report(rest.strip("\n"))])])
