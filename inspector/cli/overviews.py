"""`inspect TARGET…`: what is in checkpoints, as text, as JSON, as rows and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.cli.console import fail, is_folder, print_json, print_lines, progress, reconciled
from inspector.cli.output import Output
from inspector.errors import ConfigError, FormatError, InspectorError, NetworkError, TargetError
from inspector.tabular import NamedTuple
from inspector.units import escape

if TYPE_CHECKING:
    from inspector.model import Folder, Prediction, Reconciliation
    from inspector.report.tables import Rows


class Shown(NamedTuple):
    """The contents of an overview."""

    layers: bool = False
    tensors: bool = False
    notes: bool = False
    full: bool = False


PLAIN, PRINTED = Shown(), Output()


def overview(target: str, shown: Shown = PLAIN, output: Output = PRINTED, **opening: Any) -> None:
    """Show what is in a checkpoint, what should be in it, and why the two differ; for unrelated models, a table."""
    with _searched_once(target):
        _overview(target, shown, output, opening)


def _searched_once(target: str) -> AbstractContextManager[None]:
    """The context of a target: a folder is searched for checkpoints once, not for each question about it."""
    if not is_folder(target):
        return nullcontext()
    from inspector.opening.named import searched_once  # only for folders

    return searched_once()


def _overview(target: str, shown: Shown, output: Output, opening: Mapping[str, Any]) -> None:
    picked = any(opening.values())
    try:
        with _hint(target):
            result = reconciled(target, **opening)
    except (TargetError, FormatError) as error:
        if picked:
            raise
        unread = isinstance(error, FormatError) and error.rule == "index"  # it would be read again, as far
        if not unread and _outline(target, output, full=shown.full):
            return
        if (found := _prediction(target, error)) and not shown.layers:
            show_prediction(found, output, tensors=shown.tensors, absent=_absent(target, error), full=shown.full)
        elif not _list_models(target, shown, output):
            raise
        return
    if not picked and result.checkpoint.origin.kind != "hub" and _list_models(target, shown, output, result):
        return
    folder = None if picked else _folder(target, result)
    _show(result, shown, output, folder)
    if output.html is not None:
        from inspector.report.pages import overview as report

        output.write_page(lambda: report.page(result, folder))


def _folder(target: str, result: Reconciliation | None) -> Folder | None:
    """The account of a folder; None if the target is not one, or cannot be listed."""
    try:
        if not is_folder(target):
            return None
        from inspector import api

        return api.folder(target, result)
    except InspectorError:
        return None


@contextmanager
def _hint(target: str) -> Iterator[None]:
    """Adds to an error that there is a preset of this name, whose prediction needs neither files nor network."""
    try:
        yield
    except (TargetError, NetworkError) as error:
        from inspector.architectures.data.presets import PRESETS  # only for what was not found

        if target not in PRESETS:
            raise
        kind = NetworkError if isinstance(error, NetworkError) else TargetError
        raise kind(f"{error}; without files there is its prediction: `inspect predict {target}`") from error


def _prediction(target: str, error: InspectorError) -> Prediction | None:
    """What a configuration predicts; None if the target, which could not be opened, is not one, and has none alone.

    Raises:
        ConfigError: it is one by its name, and predicts nothing.
    """
    alone = error.config if isinstance(error, TargetError) else None
    if alone is None and not (isinstance(error, FormatError) and error.rule == "json-document"):
        return None
    from inspector import api
    from inspector.opening.configs import FILES

    try:
        return api.predict(target)
    except ConfigError:
        if Path(target).name in FILES:
            raise
        return None


def _absent(target: str, error: InspectorError) -> str:
    """The two lines above the prediction of a place without weights: its name, and that it has none."""
    config = error.config if isinstance(error, TargetError) else None
    name = Path(target).expanduser().resolve().name if is_folder(target) else target
    return f"{escape(name, 80)}\nno weights here; what its {config} predicts:" if config else ""


def show_prediction(
    result: Prediction,
    output: Output,
    *,
    tensors: bool = False,
    training: bool = False,
    stated: int | None = None,
    absent: str = "",
    full: bool = False,
) -> None:
    """Show what a configuration predicts, as `inspect predict` does.

    Args:
        stated: a number of parameters whose difference from the predicted one is explained.
        absent: lines above it that say that there are no weights.
    """
    from inspector.report import forecast, notebook

    def lines() -> Iterator[str]:
        yield forecast.prediction(result, output.width, training=training, stated=stated, absent=absent, full=full)
        if tensors:
            yield from ("", *forecast.tensors(result, output.width))

    output.show(
        lines,
        lambda: forecast.document(result, tensors=tensors, training=training, stated=stated),
        lambda: notebook.rows(result),
    )
    output.write_page(lambda: forecast.page(result, training=training, stated=stated, absent=absent))


def _outline(target: str, output: Output, *, full: bool) -> bool:
    """Show the contents of an index whose files are absent; False if the target is not one, nor a folder of one."""
    if not target.endswith(".index.json"):
        found = sorted(Path(target).expanduser().glob("*.index.json")) if is_folder(target) else []
        if len(found) != 1:
            return False
        target = str(found[0])
    from inspector import api
    from inspector.report import outline as report

    outline = api.outline(target)
    output.show(
        lambda: (report.lines(target, outline, output.width, full=full),),
        lambda: report.document(target, outline),
        lambda: report.rows(outline),
        titled=True,
    )
    output.write_page(lambda: report.page(target, outline))
    return True


def _list_models(target: str, shown: Shown, output: Output, main: Reconciliation | None = None) -> bool:
    """Show a table of the unrelated models in a folder; False if it holds fewer than two."""
    from inspector.sources.targets import in_filesystem

    if not (in_filesystem(target) or is_folder(target)):
        return False
    from inspector import api
    from inspector.opening.named import unrelated_at

    if main is not None and not unrelated_at(target):
        return False
    with progress("models") as update:
        found = api.models(target, progress=update)
    if not found:
        return False
    from inspector.report import folder as documents
    from inspector.report import models as report

    name = target if in_filesystem(target) else Path(target).expanduser().resolve().name or target
    account = _folder(target, main)
    bare = {**_SCHEMA, "target": target, "folder": documents.document(account)}
    head = _document(main, shown, account) if main and output.form == "json" else bare
    output.show(
        lambda: (report.lines(name, found, output.width, account, full=shown.full),),
        lambda: {**head, "models": report.documents(found)},
        lambda: report.rows(found),
        titled=True,
    )
    output.write_page(lambda: report.page(name, found))
    return True


_SCHEMA = {"schema": "checkpoint-inspector/1"}


def _show(result: Reconciliation, shown: Shown, output: Output, folder: Folder | None = None) -> None:
    output.show(
        lambda: _lines(result, shown, output.width, folder),
        lambda: _document(result, shown, folder),
        lambda: _rows(result, shown),
        titled=True,
    )


def _lines(result: Reconciliation, shown: Shown, width: int | None, folder: Folder | None) -> Iterator[str]:
    if shown.full:
        from inspector.report import text

        yield text.overview(result, width, notes=shown.notes, folder=folder)
    else:
        from inspector.report import screen

        yield screen.overview(result, width, notes=shown.notes, folder=folder)
    if shown.layers:
        from inspector.bridge.breakdown import by_layer
        from inspector.report import layers

        yield from layers.lines(by_layer(result.tensors))
    if shown.tensors:
        from inspector.report import text

        yield ""
        yield from text.tensors(result.tensors, width)


def overviews(targets: Sequence[str], shown: Shown, output: Output, **opening: Any) -> int:
    """Show one overview after another; an unreadable target is a line on stderr and sets the exit code."""
    documents: list[dict[str, Any]] = []
    rows: list[Rows] = []
    code = 0
    for number, target in enumerate(targets):
        try:
            result = reconciled(target, **opening)
        except InspectorError as error:
            if output.form is None and (found := _prediction(target, error)):
                print_lines(("",) if number else ())
                show_prediction(found, output, tensors=shown.tensors, absent=_absent(target, error), full=shown.full)
                continue
            code = fail(str(error))
            continue
        folder = None if any(opening.values()) or output.form not in (None, "json") else _folder(target, result)
        if output.form == "json":
            documents.append(_document(result, shown, folder))
        elif output.form:
            rows.append(_rows(result, shown).of("target", target))
        else:
            print_lines(("",) if number else ())
            _show(result, shown, output, folder)
    if output.form == "json":
        print_json({**_SCHEMA, "target": list(targets), "checkpoints": documents})
    elif rows:
        output.show_rows(rows[0]._replace(rows=[row for each in rows for row in each.rows]))
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


def _document(result: Reconciliation, shown: Shown, folder: Folder | None = None) -> dict[str, Any]:
    from inspector.report import documents

    document = documents.overview(result, tensors=shown.tensors, folder=folder)
    if shown.layers:
        from inspector.bridge.breakdown import by_layer
        from inspector.report import layers

        document["layers"] = layers.documents(by_layer(result.tensors))
    return document
