"""A lone index → text for a terminal and JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspector.bridge.outline import Outline, OutlinedRole
from inspector.report import screen
from inspector.report.columns import cut, folded, table
from inspector.report.documents import SCHEMA, architecture, fields, reconciliation
from inspector.report.pages.parts import Column, Page, Section, Table, of_rows
from inspector.report.tables import Rows, columns
from inspector.report.text import bridge
from inspector.units import escape, integer, plural, size

_NAME = 100  # characters of a name that are shown
_ROWS, _STEPS = 6, 6  # of the two tables on a screen
MOST_NAMES = 4


def lines(target: str, found: Outline, width: int | None = None, *, full: bool = False) -> str:
    """`inspect INDEX` if none of its files exists here; `full` has every role and step."""
    head = [line for each in _summary(target, found) for line in folded(each, width, None if full else 2)]
    if not full:
        title, steps = screen.why(found.bridge, _STEPS) if found.bridge else ("", [])
        room = screen.HEIGHT - len(head) - len(steps) - 3 * bool(steps) - 3  # without headers, empty lines and the last
        blocks = ["\n".join(head), _groups(found, width, max(2, min(_ROWS, room)))]
        if steps:
            steps[-1] = (steps[-1][0], steps[-1][1].replace("on disk", "by its total_size"))
            column = max(len(number) for number, _ in steps)
            blocks.append("\n".join((title, *(cut(f"{number:>{column}}  {what}", width) for number, what in steps))))
        return "\n\n".join(blocks) + "\nnext: download the files, then `inspect FOLDER`; every role: --full"
    rows = [
        (" ".join(filter(None, (each.branch, each.role))), each.tower, each.group, integer(each.tensors))
        for each in found.roles
    ]
    listed = table(rows, ("role", "tower", "group", "tensors"), "lllr", width=width, give=((2, 0), (0, 16)))
    whole = f"\n\n{bridge(found.bridge, width)}" if found.bridge else ""
    return "\n".join(head) + f"\n\n{listed}{whole}"


def _groups(found: Outline, width: int | None, most: int) -> str:
    """How many tensors of each group it names, the most first, in up to this many rows."""
    groups: dict[str, list[OutlinedRole]] = {}
    for each in sorted(found.roles, key=lambda each: -each.tensors):
        tower = "" if each.tower == "text" else f"{each.tower} "
        groups.setdefault(escape(f"{tower}{each.group.replace('_', ' ')}", 40), []).append(each)
    rows = [
        (
            name,
            cut(", ".join(dict.fromkeys(escape(each.role, 40) for each in own)), 44),
            sum(each.tensors for each in own),
        )
        for name, own in groups.items()
    ]
    rows.sort(key=lambda row: -row[2])
    kept = rows if len(rows) <= most else rows[: most - 1]
    shown = [(name, what, integer(number)) for name, what, number in kept]
    if left := rows[len(kept) :]:
        shown.append(("the rest", "", integer(sum(number for *_, number in left))))
    return table(shown, ("what it names", "", "tensors"), "llr", width=width, give=((1, 12), (0, 12)))


def _summary(target: str, found: Outline) -> Iterator[str]:
    yield escape(target.rstrip("/").rsplit("/", 1)[-1], _NAME)
    tensors = plural(len(found.index.weight_map), "tensor")
    claimed = f"; {size(found.claimed)} by its total_size" if found.claimed is not None else ""
    yield f"incomplete: an index alone: {tensors} in {plural(found.files, 'file')}, none of which is present{claimed}"
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
    """`inspect INDEX --html FILE`: what it names, and what is predicted."""
    title, verdict, *more = _summary(target, found)
    sections = [Section("What it names", [of_rows("Roles", rows(found), ("group", "tower"))])]
    if found.bridge:
        why, steps = screen.why(found.bridge)
        steps[-1] = (steps[-1][0], steps[-1][1].replace("on disk", "by its total_size"))
        sections.append(Section("Why it is this size", [Table(why, (Column(""), Column("")), steps)]))
    return Page(title, verdict, sections, [line.strip() for line in more], mood="warning")
