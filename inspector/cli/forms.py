"""Rows in the form that was asked for: CSV, JSON Lines, Parquet, or a table in one of tabulate's formats."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.cli import console
from inspector.cli.options import one_form

if TYPE_CHECKING:
    from inspector.report.tables import Rows


def asked(forms: Sequence[str], parquet: str | None) -> str | None:
    """The one form that was asked for; None for text. What cannot be written is refused before any work is done.

    Raises:
        UsageError: two forms, pyarrow is not installed, or the Parquet file may not be written.
        SourceError: its folder is not there.
    """
    form = one_form([*forms, *(["parquet"] if parquet is not None else [])])
    if parquet is not None:
        from inspector.measuring import needs
        from inspector.report import saving

        needs.check_parquet()
        saving.check(parquet, saving.PARQUET)
    return form


def show(rows: Rows, form: str, parquet: str | None) -> None:
    """Write the rows; on stdout but for Parquet."""
    from inspector.report import tables

    if form == "parquet":
        assert parquet is not None
        tables.write_parquet(parquet, rows.columns, rows.rows)
    elif form == "csv":
        tables.write_csv(rows.names, rows.rows, sys.stdout)
    elif form == "jsonl":
        told = ({name: row.get(name) for name in rows.names} for row in rows.rows)
        console.print_lines(map(json.dumps, told), wide=True)
    else:
        console.print_table(rows.rows, rows.names, form)
