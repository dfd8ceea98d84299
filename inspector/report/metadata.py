"""Metadata of files → text for a terminal, JSON and rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from inspector.model import Checkpoint
from inspector.opening.metadata import Entry
from inspector.report.documents import SCHEMA, fields
from inspector.report.tables import Rows, columns
from inspector.units import escape, integer, plural

_NAME = 100  # characters of a name that are shown
_VALUE = 120  # characters of a value that are shown in a list


def lines(entries: Iterable[Entry]) -> Iterator[str]:
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


_COLUMNS = columns("key type items:uint64 complete:bool value files:list<string>")


def rows(document: Mapping[str, Any]) -> Rows:
    """One row per key of `document`; values as JSON, because they have any type."""
    return Rows(_COLUMNS, [{**each, "value": json.dumps(each["value"])} for each in document["metadata"]])


def entry_rows(entries: Iterable[Entry]) -> Rows:
    """The same of entries alone, with the beginning of long values."""
    return rows({"metadata": [_entry(each, whole=False) for each in entries]})


def values(entries: Iterable[Entry]) -> Iterator[str]:
    """`inspect metadata TARGET KEY`: the value in full, one line per item or line of text."""
    for entry in entries:
        value = entry.value()
        for item in value if isinstance(value, list) else str(value).split("\n"):
            yield escape(str(item))


def document(checkpoint: Checkpoint, entries: Iterable[Entry], *, whole: bool) -> dict[str, Any]:
    """`inspect metadata TARGET [KEY] --json`. `complete` is false if only the beginning of a value is given."""
    return {
        "schema": SCHEMA,
        "target": checkpoint.target,
        "format": checkpoint.format,
        "metadata": [_entry(each, whole=whole) for each in entries],
    }


#: Bytes of a string that are given if no key was requested.
LONGEST_TEXT = 64 * 1024


def _entry(each: Entry, *, whole: bool) -> dict[str, Any]:
    value, complete = (each.value(), True) if whole else each.preview(LONGEST_TEXT)
    return {"files": list(each.files), **fields(each, "key type items"), "complete": complete, "value": _plain(value)}


def _plain(value: Any) -> Any:
    """A value that JSON can express: infinities and NaN as text."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, list) else value
