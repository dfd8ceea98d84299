"""Queries over the four tables by DuckDB, read-only, and the report, which consists of named queries.

Two small tables are added: `rules` (rule, group, title), and `scans`, which is scan.json.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from inspector.auditing.catalogue import all_rules
from inspector.errors import UsageError
from inspector.scanning import storage
from inspector.scanning.queries import QUERIES
from inspector.scanning.schema import TABLES, arrow_schema
from inspector.units import escape

#: The most rows of an answer.
MOST_ROWS = 100_000
#: Nothing except the tables is reachable, whatever the query.
_SETTINGS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
#: Sections of the report, and the most rows shown of each.
SECTIONS = (
    "families", "formats", "dtypes", "sizes", "broken", "unsafe", "unreadable", "same_data", "same_tensors",
    "same_model", "derived", "fine_tunes", "grown",
)  # fmt: skip
MOST_SHOWN = 10


class Answer(NamedTuple):
    """The rows of one query."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Report(NamedTuple):
    """A summary of a scan."""

    total: dict[str, int]
    scans: list[dict[str, Any]]  # as in scan.json, the latest last
    sections: dict[str, Answer]  # query → its rows


def ask(folder: Path, query: str) -> Answer:
    """Query the tables of a scan, by SQL or by a query's name.

    Raises:
        TargetError: there is no scan.
        UsageError: DuckDB is not installed, rejects the query, or would return too much.
    """
    summary = storage.check(folder)
    with closing(_connection(folder, summary)) as tables:
        return _asked(tables, QUERIES[query].sql if query in QUERIES else query)


def report(folder: Path) -> Report:
    """The totals of a scan, and what is broken, unsafe, duplicated, derived and new in it. Raises as `ask`."""
    summary = storage.check(folder)
    with closing(_connection(folder, summary)) as tables:
        total = _asked(tables, QUERIES["total"].sql)
        sections = {name: _asked(tables, QUERIES[name].sql) for name in SECTIONS}
    return Report(dict(zip(total.columns, total.rows[0], strict=True)), summary["scans"], sections)


def _connection(folder: Path, summary: dict[str, Any]) -> Any:
    """A connection to the tables and nothing else."""
    try:
        import duckdb
        import pyarrow as pa
        from pyarrow import dataset
    except ImportError as error:
        raise UsageError(
            f"{escape(str(error.name), 40)} is not installed: pip install 'checkpoint-inspector[scan]'"
        ) from error
    committed = storage.parts(folder)
    connection = duckdb.connect(":memory:")
    for table in TABLES:
        files = [str(storage.part_file(folder, table, part)) for part in committed]
        schema = arrow_schema(table)
        rows = dataset.dataset(files, schema=schema, format="parquet") if files else schema.empty_table()
        connection.register(table, rows)
    rules = [{"rule": each.code, "group": each.group, "title": each.title} for each in all_rules().values()]
    connection.register("rules", pa.Table.from_pylist(rules))
    connection.register("scans", pa.Table.from_pylist([_flat(each) for each in summary["scans"]]))
    for setting in _SETTINGS:
        connection.execute(setting)
    return connection


def _flat(scan: dict[str, Any]) -> dict[str, Any]:
    """A scan as one row."""
    names = ("number", "began", "finished", "seconds", "checkpoints", "on_disk", "broken", "unreadable")
    return {name: scan.get(name) for name in names}


def _asked(connection: Any, query: str) -> Answer:
    import duckdb

    try:
        statements = connection.extract_statements(query)
        kinds = {str(each.type).rpartition(".")[2] for each in statements}
        if len(statements) != 1 or not kinds <= {"SELECT", "EXPLAIN"}:
            raise UsageError("one SELECT at a time: the tables are read-only")
        found = connection.execute(query)
        columns = tuple(each[0] for each in found.description or ())
        rows = found.fetchmany(MOST_ROWS + 1)
    except (duckdb.Error, OSError, ValueError) as error:
        raise UsageError(f"DuckDB: {escape(_first_line(error), 300)}") from error
    if len(rows) > MOST_ROWS:
        raise UsageError(f"more than {MOST_ROWS:,} rows: add a LIMIT, or read the Parquet files themselves")
    return Answer(columns, rows)


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
