"""Metadata of files → text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inspector.opening.metadata import Entry
from inspector.report.tables import Column, Rows
from inspector.units import escape, integer, plural

_NAME = 100  # characters of a name that are shown
_VALUE = 120  # characters of a value that are shown in a list


def metadata(entries: Iterable[Entry]) -> Iterator[str]:
    """`inspect metadata`: one line per key, with the beginning of long values."""
    files: tuple[str, ...] = ()
    several = len({entry.files for entry in entries}) > 1
    for entry in entries:
        if several and entry.files != files:
            more = f" and {plural(len(entry.files) - 1, 'more file')}" if len(entry.files) > 1 else ""
            yield f"{escape(entry.files[0], _NAME)}{more}:"
        files = entry.files
        kind = entry.type if entry.items is None else f"{entry.type} × {integer(entry.items)}"
        yield f"{escape(entry.key, _NAME):<44} {kind:<24} {_preview(entry)}"


def _preview(entry: Entry) -> str:
    value, complete = entry.preview(_VALUE)
    if entry.type == "float32":
        return f"{value:.7g}"  # all the digits of a 32-bit float
    shown = (
        ", ".join(escape(str(item), 40) for item in value) if isinstance(value, list) else escape(str(value), _VALUE)
    )
    return shown if complete else f"{shown.removesuffix('…')} …"


_COLUMNS = (
    *(Column(name, "string") for name in ("key", "type")),
    Column("items", "uint64"),
    Column("complete", "bool"),
    Column("value", "string"),
    Column("files", "list<string>"),
)


def rows(document: Mapping[str, Any]) -> Rows:
    """One row per key of `documents.metadata`; values as JSON, because they have any type."""
    return Rows(_COLUMNS, [{**each, "value": json.dumps(each["value"])} for each in document["metadata"]])


def values(entries: Iterable[Entry]) -> Iterator[str]:
    """`inspect metadata TARGET KEY`: the value in full, one line per item or line of text."""
    for entry in entries:
        value = entry.value()
        for item in value if isinstance(value, list) else str(value).split("\n"):
            yield escape(str(item))
