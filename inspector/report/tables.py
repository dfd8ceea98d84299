"""Rows → comma-separated values, Arrow tables with exact types, Parquet files, cells of other formats.

pyarrow is loaded on use.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from inspector.errors import UsageError, install_command
from inspector.report import saving
from inspector.tabular import NamedTuple
from inspector.units import escape

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str  # Arrow's name: "string", "uint64", "list<uint64>", "double", "bool"


def columns(names: str) -> tuple[Column, ...]:
    """Columns by their names, each with its type after a colon unless it is a string: `role shape:list<uint64>`."""
    return tuple(Column(name, kind or "string") for name, _, kind in (each.partition(":") for each in names.split()))


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
            raise UsageError(f"pandas is not installed: `{install_command('', 'pandas')}`") from error
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
            raise UsageError(f"polars is not installed: `{install_command('', 'polars')}`") from error
        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame


#: Arrow's types → pandas' nullable types; lists are objects.
_PANDAS = {"uint64": "UInt64", "int64": "Int64", "double": "Float64", "bool": "boolean"}


#: Columns with Arrow's types. Sizes are unsigned: a file may claim more than 2⁶³ bytes.
TENSORS = columns(
    "name file dtype shape:list<uint64> offset:uint64 bytes:uint64 parameters:uint64 role group tower branch"
    " layer:int64 expert:int64 part"
)
#: Columns of predicted tensors.
PREDICTED = columns("name shape:list<uint64> role group tower branch layer:int64 expert:int64 part")


def write_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], out: TextIO) -> None:
    """A header and one line per row; shapes as `4096x11008`. No cell is a spreadsheet formula or a terminal escape."""
    writer = csv.DictWriter(out, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _cell(row.get(name)) for name in columns} for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        value = joined(value, "x")
    return inert(escape(value)) if isinstance(value, str) else value


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
        raise UsageError(f"pyarrow is not installed: `{install_command('tables')}`") from error
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


# --- strings from files -----------------------------------------------------------------------------
# A tensor's name may be a link, a script or a formula: it is escaped so that no program that renders a table sees
# markup in it. Formats for display only need nothing beyond `units.escape`.

#: A format of tabulate → its replacement: these two do not escape anything.
SAFE: Mapping[str, str] = {"unsafehtml": "html", "latex_raw": "latex"}
#: Format → characters to escape with a backslash.
_BACKSLASHED: Mapping[str, str] = {
    **dict.fromkeys(("github", "pipe"), "\\|`*[]"),  # CommonMark 2.4, and GitHub's tables
    **dict.fromkeys(("jira", "youtrack"), "\\|{}[]*!"),
    "rst": "\\`*|_",
}
#: Formats whose readers accept HTML, with the characters to write as entities besides `<`, `>` and `&`.
_HTML: Mapping[str, str] = {
    **dict.fromkeys(("github", "pipe", "jira", "youtrack"), ""),
    **dict.fromkeys(("mediawiki", "moinmoin", "textile", "asciidoc"), "|{}[]'!*"),
    "orgtbl": "|",
}
#: First characters of spreadsheets' formulas; East Asian versions read the wide ones as well.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: A cell that begins and ends with a quotation mark, which a reader of TSV removes, and has none inside.
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[+-]?[\d.,]+(?:e[+-]?\d+)?%?")


def cell(text: str, form: str) -> str:
    """A printable string as one cell of a table in a format."""
    if form == "tsv":
        return _unquoted(text)
    for letter in _BACKSLASHED.get(form, ""):
        text = text.replace(letter, f"\\{letter}")
    if form in _HTML:
        text = html.escape(text, quote=False)
        for letter in _HTML[form]:
            text = text.replace(letter, f"&#{ord(letter)};")
    return text


def _unquoted(text: str) -> str:
    """A cell of TSV, where tabulate quotes nothing: readers remove a leading quotation mark, or read on to the next."""
    inner = text.lstrip().removeprefix('"')
    ends_elsewhere = inner != text.lstrip() and not _QUOTED.fullmatch(text.strip())
    return "'" + text if ends_elsewhere or inert(inner) != inner else text


def inert(text: str) -> str:
    """A printable string that no spreadsheet treats as a formula; numbers are unchanged."""
    return "'" + text if text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
