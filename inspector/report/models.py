"""A folder of unrelated models → a table, one line per model, and the same for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspector import units
from inspector.errors import InspectorError
from inspector.model import Folder, Reconciliation
from inspector.opening.named import Models, Named
from inspector.opening.variants import Variants
from inspector.report import folder as accounts
from inspector.report.columns import GO, least_width, table, wrapped
from inspector.report.documents import fields
from inspector.report.pages.parts import Column, Mood, Page, Section, Table
from inspector.report.screen import family, state
from inspector.report.tables import Rows, columns
from inspector.units import count, decimal, escape, integer, plural

_NAME = 100  # characters of a name that are shown


#: Lines of a screen: a terminal's 24, without the prompt.
HEIGHT = 23
#: The first words of the last column that a screen has room for in any case.
_WRONG = ("unreadable", "damaged", "incomplete", "unverified", "not read")


def lines(
    title: str, found: Models, width: int | None = None, folder: Folder | None = None, *, full: bool = False
) -> str:
    """`inspect FOLDER` for a folder of models: one line each, and whether it is complete.

    On a terminal one screen, those first that are not complete; `full` and a pipe have all by name.
    """
    total = sum(_size(named, each) for named, each in found)
    if folder is not None:
        total = folder.weights + sum(each.size for each in folder.checkpoints)
    beyond = accounts.clause(folder and folder._replace(weights=total, checkpoints=()))
    rows = [_row(named, each) for named, each in found]
    words = Counter(next((word for word in _WRONG if row[-1].startswith(word)), "") for row in rows)
    wrong = ", ".join(f"{integer(words[word])} {word}" for word in _WRONG if words[word])
    what = (
        f"{plural(len(found), 'model')}, {decimal(total)}{beyond}{': ' if wrong else ''}{wrong}; name one to inspect it"
    )
    head = f"{escape(title, _NAME)}\n{wrapped(what, width)}"
    room = HEIGHT - head.count("\n") - 4
    more = ""
    if width is not None and not full and len(rows) > room:
        ranked = sorted(rows, key=lambda row: next((n for n, word in enumerate(_WRONG) if row[-1].startswith(word)), 9))
        rows, more = ranked[:room], f"\n… {plural(len(rows) - room, 'more model')}: --full"
    headers = ("model", "architecture", "parameters", "type", "bits", "size", "")
    least = 16 if width is None else least_width([row[0] for row in rows])
    give = ((6, 20), (1, 0), (3, 12), (4, GO), (0, max(least, 16)), (6, 10), (2, GO), (0, 16))
    return f"{head}\n\n{table(rows, headers, 'llrlrrl', width=width, give=give, names=0)}{more}"


def _row(named: Named, each: Reconciliation | InspectorError) -> tuple[str, ...]:
    name = escape(named.name, _NAME)
    if named.foreign:
        return (name, "", "", escape(named.foreign, 20), "", decimal(named.size), "not read")
    if isinstance(each, InspectorError):
        return (name, "", "", "", "", "", f"unreadable: {escape(_alone(named.name, each), 200)}")
    bits = units.bits(each.bits_per_weight(each.weight_bytes)) if each.logical else ""
    return (
        name,
        family(each),
        count(each.logical),
        escape(each.dtype or each.checkpoint.format, 60),
        bits,
        decimal(each.on_disk),
        ": ".join(filter(None, state(each))).removesuffix(", listed below"),
    )


def _alone(name: str, error: InspectorError) -> str:
    """An error without the name that its row begins with."""
    return str(error).removeprefix(f"{name} ").removeprefix(f"{name}: ")


def variant_lines(found: Variants) -> Iterator[str]:
    """The checkpoints at a target by their file names, the selected one first."""
    cells = [
        (
            escape(each.name, _NAME),
            each.format,
            escape(each.type or "", 40),
            plural(len(each.paths), "file"),
            decimal(each.size),
        )
        for each in found
    ]
    yield table(cells, ("checkpoint", "format", "type", "", "size"), "lllrr") if cells else "no checkpoints"


def variant_rows(found: Variants) -> Rows:
    """One row per checkpoint."""
    kinds = columns("name format type model bytes:uint64 files:list<string>")
    return Rows(
        kinds, [{**fields(each, "name format type model bytes=size"), "files": list(each.paths)} for each in found]
    )


COLUMNS = columns(
    "name architecture format type parameters:uint64 bytes:uint64 errors:uint64 warnings:uint64 complete:bool"
    " error target"
)


def rows(found: Models) -> Rows:
    """One row per model."""
    return Rows(COLUMNS, documents(found))


def documents(found: Models) -> list[dict[str, Any]]:
    """The rows of `models` in the overview's JSON."""
    return [_document(named, each) for named, each in found]


def _document(named: Named, each: Reconciliation | InspectorError) -> dict[str, Any]:
    document: dict[str, Any] = {"name": named.name, "target": named.target}
    if isinstance(each, InspectorError):
        size = {"format": named.foreign, "bytes": named.size} if named.foreign else {}
        return {**document, **size, "error": str(each)}
    config = each.checkpoint.config
    severities = [finding.severity for finding in each.findings]
    return {
        **document,
        "architecture": each.family or (config.model_type if config else None),
        "format": each.checkpoint.format,
        "parameters": each.logical,
        "type": each.dtype,
        "bytes": each.on_disk,
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "complete": each.verdict.state == "complete",
        "error": None,
    }


def page(title: str, found: Models) -> Page:
    """`inspect FOLDER --html FILE`."""
    summary = lines(title, found).split("\n")[1].removesuffix("; name one to inspect it")
    order = [_WRONG.index(word) if (word := _state(named, each)) in _WRONG else len(_WRONG) for named, each in found]
    heads = [Column("model"), Column("is", filtered=True), Column("architecture", filtered=True)]
    heads += [Column("parameters"), Column("type", filtered=True), Column("size", "bytes"), Column("why")]
    cells = [
        (name, _state(named, each), kind, parameters, dtype, _size(named, each), last.partition(": ")[2])
        for (named, each) in found
        for (name, kind, parameters, dtype, _, _, last) in [_row(named, each)]
    ]
    ranked = [cells[at] for at in sorted(range(len(cells)), key=order.__getitem__)]
    grave = min(order, default=len(_WRONG))
    mood: Mood = "bad" if grave < _WRONG.index("incomplete") else "warning" if grave < len(_WRONG) else "good"
    return Page(title, summary, [Section("Models", [Table(plural(len(found), "model"), heads, ranked)])], mood=mood)


def _state(named: Named, each: Reconciliation | InspectorError) -> str:
    """The first word of a row's last cell: `complete`."""
    return _row(named, each)[-1].partition(":")[0]


def _size(named: Named, each: Reconciliation | InspectorError) -> int:
    return each.on_disk if isinstance(each, Reconciliation) else named.size
