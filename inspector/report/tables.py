"""Rows → comma-separated values, Arrow tables with exact types, Parquet files. pyarrow is loaded on use."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from inspector.errors import UsageError
from inspector.report import saving
from inspector.report.markup import inert
from inspector.units import escape

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str  # Arrow's name: "string", "uint64", "list<uint64>", "double", "bool"


class Rows(NamedTuple):
    """A result as a table, from which every output form is written."""

    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]  # JSON values; absent and None are both null

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.columns]

    def of(self, name: str, value: str) -> Rows:
        """The rows with a leading column that identifies their source."""
        return Rows((Column(name, "string"), *self.columns), [{name: value, **row} for row in self.rows])

    def to_arrow(self) -> pa.Table:
        """With exact types. Raises UsageError if pyarrow is not installed."""
        return arrow_table(self.columns, self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """With exact integers even next to missing values. Raises UsageError if pandas is not installed."""
        try:
            import pandas as pd  # installed by the caller
        except ImportError as error:
            raise UsageError("pandas is not installed: pip install pandas") from error
        # With explicit types: pandas itself would turn integers next to missing values into floats, and lose digits.
        return pd.DataFrame(
            {
                each.name: pd.Series([row.get(each.name) for row in self.rows], dtype=_PANDAS.get(each.type))
                for each in self.columns
            }
        )

    def to_polars(self) -> pl.DataFrame:
        """With exact types. Raises UsageError if polars or pyarrow is not installed."""
        try:
            import polars as pl  # installed by the caller
        except ImportError as error:
            raise UsageError("polars is not installed: pip install polars") from error
        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame


#: Arrow's types → pandas' nullable types; lists are objects.
_PANDAS = {"uint64": "UInt64", "int64": "Int64", "double": "Float64", "bool": "boolean"}


#: Columns with Arrow's types. Sizes are unsigned: a file may claim more than 2⁶³ bytes.
TENSORS: tuple[Column, ...] = (
    Column("name", "string"),
    Column("file", "string"),
    Column("dtype", "string"),
    Column("shape", "list<uint64>"),
    Column("offset", "uint64"),
    Column("bytes", "uint64"),
    Column("parameters", "uint64"),
    Column("role", "string"),
    Column("group", "string"),
    Column("tower", "string"),
    Column("branch", "string"),
    Column("layer", "int64"),
    Column("expert", "int64"),
    Column("part", "string"),
)
#: Columns of predicted tensors.
PREDICTED: tuple[Column, ...] = tuple(
    each
    for each in TENSORS
    if each.name in ("name", "shape", "role", "group", "tower", "branch", "layer", "expert", "part")
)


def write_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], out: TextIO) -> None:
    """A header and one line per row; shapes as `4096x11008`. No cell is a spreadsheet formula or a terminal escape."""
    writer = csv.DictWriter(out, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _cell(row.get(name)) for name in columns} for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        value = joined(value, "x")
    return _inert(value) if isinstance(value, str) else value


def joined(values: Sequence[object], times: str) -> str:
    """A list in one cell: a shape as `4096x11008`, words separated by commas."""
    return (", " if any(isinstance(each, str) for each in values) else times).join(map(str, values))


def arrow_table(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Raises UsageError if pyarrow is not installed."""
    pa = _arrow()
    fields = [pa.field(each.name, _type(pa, each.type)) for each in columns]
    taken = list(rows)
    arrays = [
        pa.array([_as(each.type, row.get(each.name)) for row in taken], field.type)
        for each, field in zip(columns, fields, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _as(type_: str, value: Any) -> Any:
    """A value in its column's type: Arrow rejects an integer that a double cannot represent exactly."""
    return float(value) if type_ == "double" and isinstance(value, int) else value


def write_parquet(path: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> None:
    """A Parquet file of the rows, written completely or not at all.

    Raises:
        UsageError: pyarrow is not installed, or a file of another kind exists there.
        SourceError: the file cannot be written.
    """
    table = arrow_table(columns, rows)
    from pyarrow import parquet  # after the check that reports a missing package

    saving.save(path, saving.PARQUET, lambda place: parquet.write_table(table, place))


def _arrow() -> Any:
    try:
        import pyarrow as pa  # optional: 40 MB
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


def _inert(text: str) -> str:
    """A string that is neither a spreadsheet formula nor a terminal escape: for names, dtypes and files."""
    return inert(escape(text))
