"""`inspect TARGET…`: what is in checkpoints, as text, as JSON, as rows and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.cli import terminal
from inspector.cli.console import fail, print_json, print_lines, progress, reconciled
from inspector.errors import FormatError, InspectorError, TargetError

if TYPE_CHECKING:
    from inspector.model import Reconciliation
    from inspector.report.tables import Rows


class Shown(NamedTuple):
    """The contents and form of an overview."""

    layers: bool = False
    tensors: bool = False
    notes: bool = False
    wide: bool = False
    form: str | None = None  # None for text
    parquet: str | None = None  # where those rows are written
    html: str | None = None  # also write a page there


PLAIN = Shown()


def overview(target: str, shown: Shown = PLAIN, **opening: Any) -> None:
    """Show what is in a checkpoint, what should be in it, and why the two differ; for unrelated models, a table."""
    picked = any(opening.values())
    try:
        result = reconciled(target, **opening)
    except (TargetError, FormatError):
        if picked or not (_outline(target, shown) or _list_models(target, shown)):
            raise
        return
    if not picked and result.checkpoint.may_be_several and _list_models(target, shown, result):
        return
    if shown.form == "json":
        print_json(_document(result, shown))
    elif shown.form:
        _print_rows(_rows(result, shown), shown)
    else:
        _show(result, shown)
    if shown.html is not None:
        from inspector.cli import pages

        pages.write_overview(shown.html, result)


def _outline(target: str, shown: Shown) -> bool:
    """Show the contents of an index whose files are absent; False if the target is not one."""
    if not target.endswith(".index.json"):
        return False
    from inspector import api
    from inspector.report import outline as report

    found = api.outline(target)
    if shown.form == "json":
        print_json(report.document(target, found))
    elif shown.form:
        _print_rows(report.rows(found), shown)
    else:
        screen = terminal.screen(wide=shown.wide)
        print_lines((report.lines(target, found, screen.width),), colour=screen.colour, wide=shown.wide)
    if shown.html is not None:
        from inspector.cli import pages

        pages.write_report(shown.html, report.lines(target, found))
    return True


def _list_models(target: str, shown: Shown, main: Reconciliation | None = None) -> bool:
    """Show a table of the unrelated models in a folder; False if it holds fewer than two."""
    from inspector.sources.targets import in_filesystem

    if not (in_filesystem(target) or Path(target).expanduser().is_dir()):
        return False
    from inspector import api
    from inspector.report import models as table

    with progress("models") as told:
        found = api.models(target, progress=told)
    name = target if in_filesystem(target) else Path(target).expanduser().resolve().name or target
    if shown.form == "json":
        document = _document(main, shown) if main else {"schema": "checkpoint-inspector/1", "target": target}
        if found:
            print_json({**document, "models": table.documents(found)})
    elif found and shown.form:
        _print_rows(table.rows(found), shown)
    elif found:
        screen = terminal.screen(wide=shown.wide)
        print_lines((table.lines(name, found, screen.width),), colour=screen.colour, wide=shown.wide)
    if found and shown.html is not None:
        from inspector.cli import pages

        pages.write_models(shown.html, name, found)
    return bool(found)


def _show(result: Reconciliation, shown: Shown) -> None:
    from inspector.report import text

    screen = terminal.screen(wide=shown.wide)
    print_lines((text.overview(result, screen.width, notes=shown.notes),), colour=screen.colour, wide=shown.wide)
    if shown.layers:
        _print_layers(result)
    if shown.tensors:
        print_lines(("",))
        print_lines(text.tensors(result.tensors, screen.width), wide=shown.wide)


def overviews(targets: Sequence[str], shown: Shown, **opening: Any) -> int:
    """Show one overview after another; an unreadable target is a line on stderr and sets the exit code."""
    documents: list[dict[str, Any]] = []
    rows: list[Rows] = []
    code = 0
    for number, target in enumerate(targets):
        try:
            result = reconciled(target, **opening)
        except InspectorError as error:
            code = fail(str(error))
            continue
        if shown.form == "json":
            documents.append(_document(result, shown))
        elif shown.form:
            rows.append(_rows(result, shown).of("target", target))
        else:
            print_lines(("",) if number else ())
            _show(result, shown)
    if shown.form == "json":
        print_json({"schema": "checkpoint-inspector/1", "target": list(targets), "checkpoints": documents})
    elif rows:
        _print_rows(rows[0]._replace(rows=[row for each in rows for row in each.rows]), shown)
    return code


def _rows(result: Reconciliation, shown: Shown) -> Rows:
    """One row per tensor or layer if requested; else one per role."""
    if shown.tensors:
        from inspector.report.notebook import rows

        return rows(result)
    if shown.layers:
        from inspector.bridge.breakdown import by_layer
        from inspector.report import layers

        return layers.rows(by_layer(result.tensors))
    from inspector.report import documents

    return documents.role_rows(result)


def _print_rows(told: Rows, shown: Shown) -> None:
    from inspector.cli import forms  # formats that the fast path does not need

    assert shown.form is not None
    forms.show(told, shown.form, shown.parquet)


def _document(result: Reconciliation, shown: Shown) -> dict[str, Any]:
    from inspector.report import documents

    document = documents.overview(result, tensors=shown.tensors)
    return {**document, **(_layers_json(result) if shown.layers else {})}


def _print_layers(result: Reconciliation) -> None:
    from inspector.bridge.breakdown import by_layer
    from inspector.report.layers import lines

    print_lines(lines(by_layer(result.tensors)))


def _layers_json(result: Reconciliation) -> dict[str, Any]:
    from inspector.bridge.breakdown import by_layer
    from inspector.report.layers import documents

    return {"layers": documents(by_layer(result.tensors))}
