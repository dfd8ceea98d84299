"""Queries over the four tables by DuckDB, read-only, and the report, which consists of named queries.

Two small tables are added: `rules` (rule, group, title), and `scans`, which is scan.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from inspector.auditing.catalogue import all_rules
from inspector.errors import UsageError, install_command
from inspector.model import Reconciliation
from inspector.scanning import storage
from inspector.scanning.schema import TABLES, arrow_schema
from inspector.units import escape


class Query(NamedTuple):
    """A question and its SQL."""

    about: str
    sql: str


QUERIES: dict[str, Query] = {
    "total": Query(
        "sums over all checkpoints",
        """SELECT count(*) AS checkpoints, coalesce(sum(on_disk), 0)::HUGEINT AS on_disk,
       coalesce(sum(logical), 0)::HUGEINT AS logical, coalesce(sum(tensors), 0)::HUGEINT AS tensors,
       count(*) FILTER (errors > 0) AS broken, count(error) AS unreadable
FROM checkpoints""",
    ),
    "families": Query(
        "checkpoints by architecture",
        """SELECT coalesce(family, model_type, '(unknown)') AS family, count(*) AS checkpoints,
       sum(logical)::HUGEINT AS logical, sum(on_disk)::HUGEINT AS on_disk
FROM checkpoints WHERE format IS NOT NULL GROUP BY 1 ORDER BY on_disk DESC, family""",
    ),
    "dtypes": Query(
        "checkpoints by the type of most weights, or by packing scheme",
        """SELECT coalesce(dtype, '(unknown)') AS dtype, count(*) AS checkpoints, sum(logical)::HUGEINT AS logical,
       sum(on_disk)::HUGEINT AS on_disk
FROM checkpoints WHERE format IS NOT NULL GROUP BY 1 ORDER BY on_disk DESC, dtype""",
    ),
    "schemes": Query(
        "packed checkpoints by scheme and bits",
        """SELECT scheme, bits, group_size, count(*) AS checkpoints, sum(on_disk)::HUGEINT AS on_disk
FROM checkpoints WHERE scheme IS NOT NULL GROUP BY ALL ORDER BY on_disk DESC, scheme, bits, group_size""",
    ),
    "formats": Query(
        "checkpoints by format",
        """SELECT format, count(*) AS checkpoints, sum(on_disk)::HUGEINT AS on_disk
FROM checkpoints WHERE format IS NOT NULL GROUP BY 1 ORDER BY on_disk DESC, format""",
    ),
    "sizes": Query(
        "checkpoints by parameters",
        """SELECT CASE WHEN logical < 1e8 THEN 'below 100M' WHEN logical < 1e9 THEN '100M to 1B'
            WHEN logical < 1e10 THEN '1B to 10B' WHEN logical < 1e11 THEN '10B to 100B' ELSE 'from 100B on' END AS parameters,
       count(*) AS checkpoints, sum(on_disk)::HUGEINT AS on_disk
FROM checkpoints WHERE logical IS NOT NULL GROUP BY 1 ORDER BY min(logical)""",
    ),
    "broken": Query(
        "rules that found errors, except those of safety",
        """SELECT f.rule, count(DISTINCT f.checkpoint) AS checkpoints, min(c.target) AS example
FROM findings f JOIN checkpoints c USING (checkpoint) LEFT JOIN rules r USING (rule)
WHERE f.severity = 'error' AND r.group IS DISTINCT FROM 'safe' GROUP BY 1 ORDER BY checkpoints DESC, f.rule""",
    ),
    "unsafe": Query(
        "safety rules that found errors or warnings",
        """SELECT f.rule, f.severity, count(DISTINCT f.checkpoint) AS checkpoints, min(c.target) AS example
FROM findings f JOIN checkpoints c USING (checkpoint) JOIN rules r USING (rule)
WHERE r.group = 'safe' AND f.severity <> 'info' GROUP BY ALL ORDER BY f.severity, checkpoints DESC, f.rule""",
    ),
    "unreadable": Query(
        "checkpoints that could not be read, and why",
        "SELECT target, error_kind, error FROM checkpoints WHERE error IS NOT NULL ORDER BY target",
    ),
    "same_data": Query(
        "the same content more than once, by digests from stores and caches",
        """SELECT same_data, count(*) AS checkpoints, max(on_disk) AS bytes_each,
       ((count(*) - 1) * max(on_disk))::HUGEINT AS bytes_again, list(target ORDER BY target)[1:5] AS targets
FROM checkpoints WHERE same_data IS NOT NULL GROUP BY 1 HAVING count(*) > 1 ORDER BY bytes_again DESC, same_data""",
    ),
    "same_files": Query(
        "the same file in several checkpoints, by digest",
        """SELECT digest, count(DISTINCT checkpoint) AS checkpoints, max(size) AS bytes_each, min(path) AS path
FROM files WHERE digest IS NOT NULL GROUP BY 1 HAVING count(DISTINCT checkpoint) > 1
ORDER BY max(size) * count(*) DESC, digest""",
    ),
    "same_tensors": Query(
        "the same names, shapes and dtypes: copies, or models trained from one base",
        """SELECT same_tensors, count(*) AS checkpoints, count(DISTINCT same_data) AS contents_known, any_value(family) AS family,
       any_value(dtype) AS dtype, max(on_disk) AS bytes_each, list(target ORDER BY target)[1:5] AS targets
FROM checkpoints WHERE same_tensors IS NOT NULL AND tensors > 0 GROUP BY 1 HAVING count(*) > 1
ORDER BY checkpoints DESC, same_tensors""",
    ),
    "same_model": Query(
        "one model in several formats or types, by the parameters of each role",
        """SELECT same_model, count(*) AS checkpoints, list(DISTINCT format ORDER BY format) AS formats,
       list(DISTINCT dtype ORDER BY dtype) AS dtypes, max(logical) AS logical, sum(on_disk)::HUGEINT AS on_disk,
       list(target ORDER BY target)[1:5] AS targets
FROM checkpoints WHERE same_model IS NOT NULL GROUP BY 1
HAVING count(DISTINCT format) > 1 OR count(DISTINCT dtype) > 1 ORDER BY checkpoints DESC, same_model""",
    ),
    "derived": Query(
        "checkpoints that name their base model, and whether a checkpoint with its shapes is here",
        """WITH names AS (
    SELECT checkpoint, target, unnest([target, regexp_extract(target, '([^/]+/[^/]+)/?$', 1), regexp_extract(target, '([^/]+)/?$', 1),
        replace(regexp_extract(target, 'models--(.+?)/snapshots/', 1), '--', '/')]) AS name FROM checkpoints)
SELECT c.target, c.base, c.adapter, min(n.target) FILTER (n.checkpoint <> c.checkpoint) AS found
FROM checkpoints c LEFT JOIN names n ON n.name = c.base WHERE c.base IS NOT NULL GROUP BY ALL ORDER BY c.target""",
    ),
    "fine_tunes": Query(
        "equal shapes but different data, if digests are known: one was trained from another, or both from a third",
        """SELECT same_tensors, count(*) AS checkpoints, count(DISTINCT same_data) AS contents,
       list(DISTINCT base) FILTER (base IS NOT NULL) AS bases, list(target ORDER BY target)[1:5] AS targets
FROM checkpoints WHERE same_tensors IS NOT NULL AND same_data IS NOT NULL AND tensors > 0 GROUP BY 1
HAVING count(DISTINCT same_data) > 1 ORDER BY checkpoints DESC, same_tensors""",
    ),
    "grown": Query(
        "what was new or changed in the last scan, by family",
        """SELECT coalesce(family, model_type, '(unknown)') AS family,
       count(*) FILTER (first_scan = scan) AS new, count(*) FILTER (first_scan < scan) AS changed,
       (sum(coalesce(on_disk, 0))::HUGEINT - sum(coalesce(bytes_before, 0))::HUGEINT) AS bytes_more
FROM checkpoints WHERE scan = (SELECT max(number) FROM scans) GROUP BY 1 ORDER BY bytes_more DESC, family""",
    ),
    "largest": Query(
        "the ten largest checkpoints",
        "SELECT target, family, dtype, logical, on_disk FROM checkpoints ORDER BY on_disk DESC NULLS LAST, target LIMIT 10",
    ),
    "roles": Query(
        "parameters and bytes by role",
        """SELECT "group", role, count(*) AS tensors, sum(parameters)::HUGEINT AS parameters, sum(bytes)::HUGEINT AS bytes
FROM tensors GROUP BY ALL ORDER BY bytes DESC, role""",
    ),
    "unexplained": Query(
        "checkpoints with unexplained bytes",
        "SELECT target, family, unexplained, on_disk FROM checkpoints WHERE unexplained <> 0 ORDER BY abs(unexplained) DESC, target",
    ),
}


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
    "same_model", "relatives", "derived", "fine_tunes", "grown",
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
        return _answer(tables, QUERIES[query].sql if query in QUERIES else query)


def report(folder: Path, read: Callable[[str], Reconciliation] | None = None) -> Report:
    """The totals of a scan, and what is broken, unsafe, duplicated, derived and new in it.

    Args:
        read: opens a local checkpoint that may be related to others, for samples of its values; None compares none.

    Raises:
        TargetError, UsageError: as `ask`.
    """
    summary = storage.check(folder)
    with closing(_connection(folder, summary)) as tables:
        total = _answer(tables, QUERIES["total"].sql)
        sections = {name: _answer(tables, QUERIES[name].sql) for name in SECTIONS if name in QUERIES}
        alike = _answer(tables, _ALIKE).rows if read else []
    if read is not None:
        sections["relatives"] = _relatives([row[0] for row in alike], read)
        if sections["relatives"].rows:
            del sections["same_model"]  # which goes by shapes alone
    shown = {name: sections[name] for name in SECTIONS if name in sections}
    return Report(dict(zip(total.columns, total.rows[0], strict=True)), summary["scans"], shown)


#: Local checkpoints that have their structure in common with others.
_ALIKE = """SELECT list(target ORDER BY on_disk DESC, target) FROM checkpoints
WHERE structure_id IS NOT NULL AND error IS NULL AND NOT contains(target, '://') GROUP BY structure_id HAVING count(*) > 1
ORDER BY count(*) DESC, structure_id"""
#: Checkpoints whose values are sampled for a report.
SAMPLED = 500


def _relatives(alike: Sequence[Sequence[str]], read: Callable[[str], Reconciliation]) -> Answer:
    from inspector.comparing.parents import families  # with NumPy, which DuckDB's answers do not need

    rows, left = list[tuple[Any, ...]](), SAMPLED
    for targets in alike:
        for each in families([target for target in targets[:left] if Path(target).exists()], read):
            rows.append((len(each.targets), each.same, len(each.targets) - each.same, each.on_disk, list(each.targets)))
        left = max(0, left - len(targets))
    return Answer(("checkpoints", "same_values", "near", "on_disk", "targets"), rows)


def _connection(folder: Path, summary: dict[str, Any]) -> Any:
    """A connection to the tables and nothing else."""
    try:
        import duckdb
        import pyarrow as pa
        from pyarrow import dataset
    except ImportError as error:
        raise UsageError(f"{escape(str(error.name), 40)} is not installed: `{install_command('scan')}`") from error
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


def _answer(connection: Any, query: str) -> Answer:
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
