"""The by-layer view: `inspect TARGET --layers`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inspector.bridge.breakdown import Kind, Strip
from inspector.report.documents import fields
from inspector.report.tables import Rows, columns
from inspector.units import decimal, escape, integer, plural, ranges

_WIDTH = 100  # letters per line
_DIFFERENCES = 6  # differences listed for one kind


def lines(strips: Iterable[Strip]) -> Iterator[str]:
    """A strip of letters for each tower, then its kinds of layers, one line each."""
    for strip in strips:
        kinds = plural(len(strip.kinds), "kind")
        yield ""
        yield f"{escape(strip.tower, 40)}: {plural(len(strip.layers), 'layer')} of {kinds}"
        letters = strip.letters
        yield from (f"  {letters[at : at + _WIDTH]}" for at in range(0, len(letters), _WIDTH))
        yield from (f"  {_kind(kind)}" for kind in strip.kinds)


def _kind(kind: Kind) -> str:
    each = f"{integer(kind.bytes)} B" + (" each" if len(kind.layers) > 1 else "")
    text = (
        f"{kind.letter}  {ranges(kind.layers)}: {each}, {integer(kind.parameters)} parameters, {_dtypes(kind.dtypes)}"
    )
    more = len(kind.differs) - _DIFFERENCES
    differences = (*kind.differs[:_DIFFERENCES], *((f"{more} more differences",) if more > 0 else ()))
    return f"{text}; {'; '.join(escape(each, 80) for each in differences)}" if differences else text


def _dtypes(dtypes: Mapping[str, int]) -> str:
    return " + ".join(f"{escape(dtype, 20)} {decimal(dtypes[dtype])}" for dtype in _by_bytes(dtypes))


def documents(strips: Iterable[Strip]) -> list[dict[str, Any]]:
    """One dictionary per layer, for `--json`."""
    return [
        {**fields(each, "tower layer kind tensors parameters bytes"), "dtypes": dict(each.dtypes)}
        for strip in strips
        for each in strip.layers
    ]


#: Columns of a table with one row per layer.
COLUMNS = columns(
    "tower layer:int64 kind tensors:uint64 parameters:uint64 bytes:uint64 dtypes:list<string>"  # by bytes, descending
)


def rows(strips: Iterable[Strip]) -> Rows:
    """One row per layer."""
    return Rows(COLUMNS, [{**each, "dtypes": _by_bytes(each["dtypes"])} for each in documents(strips)])


def _by_bytes(dtypes: Mapping[str, int]) -> list[str]:
    return sorted(dtypes, key=lambda dtype: -dtypes[dtype])
