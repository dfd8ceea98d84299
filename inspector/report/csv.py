"""Tensors as comma-separated values, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TextIO

from inspector.model import Labelled
from inspector.report.documents import tensor
from inspector.report.markup import inert

COLUMNS = (
    "name",
    "file",
    "dtype",
    "shape",
    "offset",
    "bytes",
    "parameters",
    "role",
    "group",
    "tower",
    "branch",
    "layer",
    "expert",
    "part",
)


def write_tensors(labelled: Iterable[Labelled], out: TextIO) -> None:
    """A header and a row a tensor; shapes as `4096x11008`."""
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for each in labelled:
        row = tensor(each)
        row["shape"] = "x".join(map(str, row["shape"]))
        writer.writerow({column: _inert(value) if isinstance(value, str) else value for column, value in row.items()})


def _inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula and no terminal for a command: names, dtypes and files alike."""
    safe = text if text.isprintable() else text.encode("unicode_escape").decode()
    return inert(safe)
