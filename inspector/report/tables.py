"""Rows → an Arrow table with exact types, and a Parquet file of it. pyarrow is asked for where it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.errors import SourceError, UsageError
from inspector.units import escape

if TYPE_CHECKING:
    import pyarrow as pa


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str  # as Arrow calls it: "string", "uint64", "list<uint64>", "double", "bool"


def arrow_table(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Raises UsageError where pyarrow is not installed."""
    pa = _arrow()
    fields = [pa.field(each.name, _type(pa, each.type)) for each in columns]
    taken = list(rows)
    arrays = [
        pa.array([row.get(each.name) for row in taken], field.type) for each, field in zip(columns, fields, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def write_parquet(path: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> None:
    """A Parquet file of the rows.

    Raises:
        UsageError: pyarrow is not installed.
        SourceError: the file cannot be written.
    """
    table = arrow_table(columns, rows)
    from pyarrow import parquet  # after the line that says what is missing

    try:
        parquet.write_table(table, path)
    except OSError as error:
        raise SourceError(f"{escape(path)}: {error.strerror or error}") from error


def _arrow() -> Any:
    try:
        import pyarrow as pa  # an extra: 40 MB
    except ImportError as error:
        raise UsageError("pyarrow is not installed: pip install 'checkpoint-inspector[tables]'") from error
    return pa


def _type(pa: Any, name: str) -> Any:
    if name.startswith("list<"):
        return pa.list_(_type(pa, name[5:-1]))
    return {
        "string": pa.string(),
        "uint64": pa.uint64(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
    }[name]
