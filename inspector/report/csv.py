"""Tensors as comma-separated values, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TextIO

from inspector.model import Labelled
from inspector.report.documents import tensor

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
        row["name"] = _inert(row["name"])
        writer.writerow(row)


def _inert(name: str) -> str:
    """A name that no spreadsheet takes for a formula and no terminal for a command."""
    safe = name.encode("unicode_escape").decode() if not name.isprintable() else name
    return "'" + safe if safe.startswith(("=", "+", "-", "@")) else safe
