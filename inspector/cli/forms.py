"""Rows in the requested form: CSV, JSON Lines, Parquet, or a table in one of tabulate's formats."""

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
    """The one requested form; None for text. A form that cannot be written is rejected before any work is done.

    Raises:
        UsageError: two forms were requested, pyarrow is missing, or the Parquet file cannot be written.
        SourceError: its folder does not exist.
    """
    form = one_form([*forms, *(["parquet"] if parquet is not None else [])])
    if parquet is not None:
        from inspector.measuring import needs
        from inspector.report import saving

        needs.check_parquet()
        saving.check(parquet, saving.PARQUET)
    return form


def show(rows: Rows, form: str, parquet: str | None) -> None:
    """Write the rows, on stdout except for Parquet."""
    from inspector.report import tables

    if form == "parquet":
        assert parquet is not None
        tables.write_parquet(parquet, rows.columns, rows.rows)
    elif form == "csv":
        with console.reader_may_leave():
            tables.write_csv(rows.names, rows.rows, sys.stdout)
    elif form == "jsonl":
        told = ({name: row.get(name) for name in rows.names} for row in rows.rows)
        with console.reader_may_leave():
            sys.stdout.writelines(f"{json.dumps(row)}\n" for row in told)
    else:
        console.print_table(rows.rows, rows.names, form)
