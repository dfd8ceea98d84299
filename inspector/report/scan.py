"""A scan as text: progress, results, and report. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from inspector.report.columns import bar, table, wrapped
from inspector.report.documents import SCHEMA
from inspector.report.pages import parts
from inspector.report.pages.parts import MOST_CHOICES, Cell, Page, Section, Table
from inspector.report.tables import Column, Rows
from inspector.units import count, decimal, escape, integer, plural

if TYPE_CHECKING:
    from inspector.scanning.queries import Answer, Report
    from inspector.scanning.run import Progress, Scan

#: Characters of a cell that are shown.
_CELL = 120
#: Columns in bytes, and columns that count parameters, shown in readable units.
_BYTES = frozenset({"on_disk", "bytes_each", "bytes_again", "bytes_more"})
_COUNTS = frozenset({"logical"})
TITLES = {
    "families": "By family",
    "formats": "By format",
    "dtypes": "By type",
    "sizes": "By parameters",
    "broken": "Broken: rules with errors",
    "unsafe": "Unsafe: safety rules with findings",
    "unreadable": "Unreadable",
    "same_data": "Identical content (by known digests)",
    "same_tensors": "Identical tensors (names, shapes, dtypes)",
    "same_model": "Equal shapes in several formats or types (values were not compared)",
    "relatives": "Families: related by samples of their values",
    "derived": "Derived from another model, by their own claim",
    "fine_tunes": "Equal shapes, different data (by known digests)",
    "grown": "New or changed since the previous scan",
}
#: Columns omitted from text: they only name a group.
_KEYS = frozenset({"same_data", "same_tensors", "same_model"})


def progress(now: Progress) -> str:
    """One line while a scan runs."""
    of = integer(now.found) if now.all_found else f"{integer(now.found)} and more"
    left = f", {_time(now.left)} left" if now.left is not None else ""
    bad = f", {integer(now.errors)} with errors" if now.errors else ""
    kept = f", {integer(now.kept)} unchanged" if now.kept else ""
    hands = plural(now.hands, "worker") if now.hands else "waiting for workers"
    return f"{integer(now.done)} of {of}, {now.rate:.0f}/s{left}; {decimal(now.on_disk)}{bad}{kept}; {hands}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"


def done(scan: Scan, folder: str | None, bill: str | None = None) -> str:
    """The result of a scan, and the command that shows more if it left tables in a folder."""
    units, gone = scan.units, scan.vanished
    rate = units["inspected"] / scan.seconds if scan.seconds else 0
    did = f"{plural(scan.inspected, 'checkpoint')} inspected in {_time(scan.seconds)} ({rate:.0f}/s)"
    did += f", {integer(units['kept'])} unchanged" if units["kept"] else ""
    did += f", {integer(gone['checkpoints'])} gone" if gone["checkpoints"] else ""
    held = f"{plural(scan.checkpoints, 'checkpoint')}, {decimal(scan.on_disk)}: "
    held += f"{integer(scan.broken)} with errors, {integer(scan.unreadable)} unreadable"
    more = f"\ninspect scan --report {escape(folder, _CELL)} shows more" if folder else ""
    return f"{escape(folder or bill or '', _CELL)}: {held}\n{did}{more}"


#: What is wrong comes first.
_FIRST = ("broken", "unsafe", "unreadable")
#: Columns that have targets: shown without the folder that all of them are in.
_TARGETS = frozenset({"target", "targets", "example", "found"})
#: The lines of a screen, and the rows of each table on one.
HEIGHT, FEW = 23, 4
#: Columns of a bar for all bytes.
_BAR = 12


def lines(found: Report, folder: str, width: int | None = None) -> str:
    """`inspect scan --report DIR`: what is wrong, then what there is; with a width one screen of it."""
    from inspector.scanning.queries import MOST_SHOWN, QUERIES

    shown_lines, root = head(found, folder), _root(found)
    if root:
        shown_lines.append(f"targets are below {escape(root, _CELL)}")
    shown_lines = "\n".join(wrapped(line, width) for line in shown_lines).split("\n")  # as high as they will be
    most, left = MOST_SHOWN if width is None else FEW, 0
    for name, answer in shown(found):
        answer = _with_bars(_below(answer, root), found.total["on_disk"])
        block = ["", TITLES[name], *rows(answer.columns, answer.rows[:most], width).split("\n")]
        if len(answer.rows) > most:
            how = "--wide" if len(answer.rows) <= MOST_SHOWN else f"--sql {name}" if name in QUERIES else "--json"
            block.append(f"… {integer(len(answer.rows) - most)} more: {how}")
        if left or (width is not None and len(shown_lines) + len(block) >= HEIGHT):
            left += 1
        else:
            shown_lines += block
    return "\n".join([*shown_lines, *([f"… {plural(left, 'more table')}: --wide"] if left else [])])


def _root(found: Report) -> str:
    """The folder that all targets are in, with its slash; empty if there is none, or it is the root's."""
    targets = [
        target
        for answer in found.sections.values()
        for at, name in enumerate(answer.columns)
        if name in _TARGETS
        for row in answer.rows
        for target in (row[at] if isinstance(row[at], list) else [row[at]])
        if isinstance(target, str)
    ]
    folders = [target.split("/")[:-1] for target in targets]
    alike = takewhile(lambda words: len(set(words)) == 1, zip(*folders, strict=False))
    root = "/".join(words[0] for words in alike) if len(targets) > 1 else ""
    return f"{root}/" if root.strip("/") and not any("://" in target for target in targets) else ""


def _below(answer: Answer, root: str) -> Answer:
    """An answer whose targets begin below a folder."""

    def cell(name: str, value: Any) -> Any:
        if name not in _TARGETS or not root:
            return value
        if isinstance(value, list):
            return [each.removeprefix(root) if isinstance(each, str) else each for each in value]
        return value.removeprefix(root) if isinstance(value, str) else value

    return answer._replace(rows=[tuple(map(cell, answer.columns, row)) for row in answer.rows])


def _with_bars(answer: Answer, total: int) -> Answer:
    """An answer with a bar for each row's bytes, if they are parts of all."""
    if answer.columns[-1:] != ("on_disk",) or not total:
        return answer
    bars = [(*row, bar((row[-1] or 0) / total, _BAR)) for row in answer.rows]
    return answer._replace(columns=(*answer.columns, ""), rows=bars)


def head(found: Report, folder: str) -> list[str]:
    """The folder, its contents, and growth."""
    total = found.total
    held = f"{plural(total['checkpoints'], 'checkpoint')}, {decimal(total['on_disk'])}"
    held += f", {count(total['logical'])} parameters"
    state = "damaged" if total["broken"] or total["unreadable"] else "sound"
    found_lines = [
        escape(folder, _CELL),
        f"{state}: {held}; {integer(total['broken'])} with errors, {integer(total['unreadable'])} unreadable",
    ]
    found_lines += [_history(found.scans)] if len(found.scans) > 1 else []
    if found.scans[-1].get("finished") is None:
        found_lines.append("the last scan is unfinished: --resume continues it")
    return found_lines


def shown(found: Report) -> list[tuple[str, Answer]]:
    """The sections that are not empty."""
    first = len(found.scans) < 2
    some = [(name, each) for name, each in found.sections.items() if each.rows and not (first and name == "grown")]
    return sorted(some, key=lambda section: section[0] not in _FIRST)


def _history(scans: Sequence[Mapping[str, Any]]) -> str:
    """Growth since the previous scan."""
    before, last = scans[-2:]
    if last.get("finished") is None or before.get("finished") is None:
        return f"scan {last['number']}"
    more, size = (last[name] - before[name] for name in ("checkpoints", "on_disk"))
    gone = last["vanished"]["checkpoints"]
    sign = "+" if size >= 0 else "−"
    grew = f"{more:+,} checkpoints, {sign}{decimal(abs(size))}".replace("-", "−")
    return f"since scan {before['number']}: {grew}; {integer(gone)} gone, {integer(last['units']['changed'])} changed"


def rows(columns: Sequence[str], found: Sequence[Sequence[Any]], width: int | None = None) -> str:
    """The rows of any query as a table."""
    shown = [at for at, name in enumerate(columns) if name not in _KEYS or len(columns) == 1]
    heads = [_heading(columns[at]) for at in shown]
    cells = [[_cell(columns[at], row[at]) for at in shown] for row in found]
    numbers = [any(isinstance(row[at], int) and not isinstance(row[at], bool) for row in found) for at in shown]
    align = "".join("r" if number else "l" for number in numbers)
    text = [at for at, number in enumerate(numbers) if not number]
    give = tuple((at, 12) for at in reversed(text)) + tuple((at, 4) for at in reversed(range(len(shown))))
    return table(cells, heads, align, width=width, give=give) if cells else "no rows"


def _heading(column: str) -> str:
    """A column's name as people say it."""
    return "parameters" if column == "logical" else column.replace("_", " ")


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return escape(", ".join(map(str, value)), _CELL)
    if isinstance(value, int) and not isinstance(value, bool):
        if name in _BYTES:
            return ("−" if value < 0 else "") + decimal(abs(value))
        return count(value) if name in _COUNTS else integer(value)
    return escape(str(value), _CELL)


def checkpoint_rows(scan: Scan) -> Rows:
    """The table of checkpoints that a scan left in its folder. Raises SourceError if it is gone."""
    from pyarrow import parquet

    from inspector.scanning import schema, storage

    files = [storage.part_file(scan.folder, "checkpoints", part) for part in storage.parts(scan.folder)]
    kinds = tuple(Column(each.name, each.type) for each in schema.CHECKPOINTS)
    return Rows(kinds, [row for file in files for row in parquet.read_table(file).to_pylist()])


def as_rows(answer: Answer) -> Rows:
    """The answer to any query, each column with the type of its values."""
    columns = [Column(name, _kind([row[at] for row in answer.rows])) for at, name in enumerate(answer.columns)]
    return Rows(tuple(columns), [dict(zip(answer.columns, map(_value, row), strict=True)) for row in answer.rows])


def _kind(values: Sequence[Any]) -> str:
    """Arrow's name for the type: unsigned unless numbers are negative; string if values have nothing else in common."""
    lists = [value for value in values if isinstance(value, (list, tuple))]
    if lists:
        return f"list<{_kind([each for value in lists for each in value])}>"
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return "bool"
    if types == {int}:
        known = [value for value in values if value is not None]
        return "uint64" if min(known) >= 0 and max(known) < 2**64 else "int64" if max(known) < 2**63 else "double"
    return "double" if types and types <= {int, float, Decimal} else "string"


def _value(value: Any) -> Any:
    """A value as JSON: dates and DuckDB's other types as text."""
    if isinstance(value, (list, tuple)):
        return list(map(_value, value))
    if isinstance(value, Decimal):
        return float(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def queries(width: int | None = None) -> str:
    """`inspect scan --queries`."""
    from inspector.scanning.queries import QUERIES

    return table([(name, each.about) for name, each in QUERIES.items()], (), "ll", width=width, give=((1, 20),))


def document(found: Report, folder: str) -> dict[str, Any]:
    """`inspect scan --report DIR --json`."""
    sections = {
        name: [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        for name, answer in found.sections.items()
    }
    return {"schema": SCHEMA, "target": folder, "total": found.total, "scans": found.scans, **sections}


# --- the page ----------------------------------------------------------------------------------------


def page(found: Report, folder: str) -> Page:
    """`inspect scan --report DIR --html FILE`: the report with every row."""
    _, verdict, *more = head(found, folder)
    root, total = _root(found), found.total["on_disk"]
    more += [f"targets are below {root}"] if root else []
    answers = [(name, _with_bars(_below(answer, root), total)) for name, answer in shown(found) if answer.columns]
    sections = [Section(TITLES[name], [_table(answer)]) for name, answer in answers]
    bad = found.total["broken"] or found.total["unreadable"]
    return Page(f"Scan {folder}", verdict, sections, more, "bad" if bad else "good")


def _table(answer: Answer) -> Table:
    columns, cells = list[parts.Column](), list[list[Cell]]()
    for at, name in enumerate(answer.columns):
        values = [_page_cell(row[at]) for row in answer.rows]
        if name in _KEYS:
            continue
        number = any(isinstance(value, (int, float)) for value in values)
        filtered = bool(name) and not number and 1 < len(set(values)) <= MOST_CHOICES // 4
        kind: parts.Kind = "bytes" if name in _BYTES else "number" if number else "text"
        columns.append(parts.Column(_heading(name), kind, filtered))
        cells.append(values)
    return Table(plural(len(answer.rows), "row"), columns, list(zip(*cells, strict=True)))


def _page_cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, (int, float, str)):
        return value
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
