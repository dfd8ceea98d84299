"""A family → the text of its table, as `inspector/architectures/table_file.py` reads it.

What is repeated is written once: beginnings of names and long texts get a word under `let`, neighbouring rows that
differ in one place each become one row of alternatives, and columns that many rows share go before them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from inspector.architectures.table import Family, Include, Row
from inspector.architectures.table_file import statistics

#: Columns that a group of rows has in common, if they are so many.
_COMMON, _GROUP = ("tower", "heads", "when"), 4
#: Rows that must begin alike for the beginning to get a word, and texts that must be alike.
_SHARED, _LONG = 3, 30
#: Characters of a row's role, name and shape beyond which alternatives are no easier to read.
_WIDE = 130


class Line(NamedTuple):
    """One line of `rows`: the rows that it says, and how."""

    rows: tuple[Row | Include, ...]
    entry: Any  # as JSON, without the columns of its group


def text(family: Family, name: str, *, words: Mapping[str, str] | None = None, **beside: Any) -> str:
    """The text of the table in the file `name`. `beside` are fields that are no part of the family: about, source …"""
    named = {**beginnings(family.rows), **(words or {})}
    fields = {field: beside[field] for field in ("about", "source", "notes") if beside.get(field)}
    fields |= {
        field: value for field, value in set_columns(family, ("rows",)).items() if (field, value) != ("name", name)
    }
    fields |= {field: value for field, value in beside.items() if field not in fields and value}
    body = ",\n".join(_grouped(lines_of(family.rows, named), named))
    used = {word: start for word, start in named.items() if f"${word}" in body}
    fields = {**fields, **({"let": used} if used else {})}
    lines = [f'"{field}": {_laid(field, value)},' for field, value in fields.items() if value != {}]
    return "{" + "\n ".join([*lines, '"rows": [']) + "\n" + body + "]}\n"


def put(table: str, field: str, value: Any) -> str:
    """A table's text with another value of a field, where it stands or after `types`; an empty one is left out."""
    spans = _spans(table)
    if json.loads(table).get(field) == (value or None):
        return table
    if field not in spans:
        at = spans["types"][1]
        return f'{table[:at]},\n "{field}": {_laid(field, value)}{table[at:]}'
    start, end = spans[field]
    if value:
        return f'{table[:start]}"{field}": {_laid(field, value)}{table[end:]}'
    if before := [last for _, last in spans.values() if last <= start]:
        return table[: max(before)] + table[end:]
    after = min((first for first, _ in spans.values() if first >= end), default=end)
    return table[:start] + table[after:]  # the first field goes with the comma after it


def _spans(table: str) -> dict[str, tuple[int, int]]:
    """Each field of a table → where in its text its name begins, and its value ends."""
    decoder, at, spans = json.JSONDecoder(), 1, dict[str, tuple[int, int]]()
    while (start := table.find('"', at)) >= 0:
        name, colon = decoder.raw_decode(table, start)
        value = colon + re.match(r"\s*:\s*", table[colon:]).end()  # type: ignore[union-attr]
        at = decoder.raw_decode(table, value)[1]
        spans[name] = (start, at)
    return spans


#: Fields that have a line for each item, and the width to which others are filled.
_ITEMIZED, _FILLED = ("types", "let", "derived"), 118


def _laid(field: str, value: Any) -> str:
    """A field's value: on one line, on a line for each item, or on lines that are filled."""
    whole = dumps(value)
    if field == "notes":
        return "[\n" + ",\n".join(f"  {dumps(each)}" for each in value) + "]"
    if not isinstance(value, dict) or len(value) < 2 or (len(whole) < _FILLED - 20 and field not in _ITEMIZED):
        return whole
    lines = [""]
    for item in (f"{dumps(key)}: {dumps(each)}" for key, each in value.items()):
        if lines[-1] and (field in _ITEMIZED or len(lines[-1]) + len(item) > _FILLED - 4):
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + item
    return "{\n  " + ",\n  ".join(lines) + "}"


def dumps(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def set_columns(entry: Row | Include | Family, left_out: Iterable[str]) -> dict[str, Any]:
    """The columns that are not at their defaults."""
    defaults = entry._field_defaults
    return {
        field: value
        for field, value in zip(entry._fields, entry, strict=True)
        if field not in left_out and (field not in defaults or value != defaults[field])
    }


# --- lines ----------------------------------------------------------------------------------------


def lines_of(rows: Sequence[Row | Include], words: Mapping[str, str]) -> Iterator[Line]:
    """Rows and includes as entries; neighbours that differ in one place each are one."""
    units, at = list(_units(rows)), 0
    while at < len(units):
        end, entry = at + 1, _entry(units[at])
        while end < len(units) and (longer := _folded(units[at : end + 1], words)) is not None:
            entry, end = longer, end + 1
        yield Line(tuple(row for unit in units[at:end] for row in unit), entry)
        at = end


def _units(rows: Sequence[Row | Include]) -> Iterator[tuple[Row | Include, ...]]:
    """Each row or include by itself, and a norm over batches with what it keeps of these."""
    at = 0
    while at < len(rows):
        row = rows[at]
        unit: tuple[Row | Include, ...] = (row, *statistics(row)) if isinstance(row, Row) else (row,)
        if tuple(rows[at : at + len(unit)]) != unit:
            unit = (row,)
        yield unit
        at += len(unit)


def _entry(unit: Sequence[Row | Include]) -> Any:
    if isinstance(unit[0], Include):
        return set_columns(unit[0], ())
    return [*unit[0][:3], _own(unit)]


def _own(unit: Sequence[Row | Include]) -> dict[str, Any]:
    """The columns of a row that are not at their defaults."""
    own = set_columns(unit[0], ("role", "name", "shape"))
    return {**own, "batch": True} if len(unit) > 1 else own


def _folded(units: Sequence[Sequence[Row | Include]], words: Mapping[str, str]) -> Any | None:
    """Rows as one entry of alternatives; None where they are too different."""
    rows = [unit[0] for unit in units]
    if not all(isinstance(row, Row) for row in rows) or len({(*unit[0][3:], len(unit)) for unit in units}) > 1:
        return None
    found = [_alternatives([str(row[at]) for row in rows]) for at in range(3)]
    if None in found or len({row[:3] for row in rows}) < len(rows) or ("(" not in str(found[1])):
        return None
    if len("".join(_worded(found, words))) > _WIDE:
        return None
    return [*found, _own(units[0])]


_PIECES = re.compile(r"\$?[A-Za-z0-9]+|.", re.DOTALL)
_NAMES = re.compile(r"\$?[A-Za-z0-9_.]+|.", re.DOTALL)


def _alternatives(texts: Sequence[str]) -> str | None:
    """`q_proj`, `k_proj` → `(q|k)_proj`; None where what differs is no word."""
    if len(set(texts)) == 1:
        return texts[0]
    pieces = _NAMES if any("," in each or " " in each for each in texts) else _PIECES
    words = [pieces.findall(each) for each in texts]
    shortest, start, end = min(map(len, words)), 0, 0
    while start < shortest and len({each[start] for each in words}) == 1:
        start += 1
    while end < shortest - start and len({each[-1 - end] for each in words}) == 1:
        end += 1
    middles = ["".join(each[start : len(each) - end]) for each in words]
    if any(sign in middle for middle in middles for sign in "()|{}$,") or max(map(len, middles)) > 40:
        return None
    first = words[0]
    return "".join(first[:start]) + "(" + "|".join(middles) + ")" + "".join(first[len(first) - end :])


# --- groups ---------------------------------------------------------------------------------------


def _grouped(lines: Iterable[Line], words: Mapping[str, str]) -> Iterator[str]:
    """The lines' texts, neighbours of common columns under these."""
    for columns, members in groupby(lines, _common):
        entries = list(members)
        if columns and len(entries) >= _GROUP:
            inner = ",\n".join(f"   {_written(each, words, columns)}" for each in entries)
            yield f'  {{"columns": {dumps(_worded(columns, words))}, "rows": [\n{inner}]}}'
        else:
            yield from (f"  {_written(each, words, {})}" for each in entries)


def _common(line: Line) -> dict[str, Any]:
    columns = line.entry[3] if isinstance(line.entry, list) else {}
    return {field: value for field, value in columns.items() if field in _COMMON}


def _written(line: Line, words: Mapping[str, str], columns: Mapping[str, Any]) -> str:
    if isinstance(line.entry, dict):
        return dumps(_worded(line.entry, words))
    *texts, own = line.entry
    own = {field: value for field, value in own.items() if field not in columns}
    return dumps(_worded([*texts, *([own] if own else [])], words))


def _always(text: str) -> Callable[[object], str]:
    """What replaces a match with a text as it is, backslashes and all."""
    return lambda _: text


def _worded(value: Any, words: Mapping[str, str]) -> Any:
    """The value with words for what they stand for: the longest that a text has, one after the other."""
    if isinstance(value, dict):
        return {key: _worded(each, words) for key, each in value.items()}
    if isinstance(value, list):
        return [_worded(each, words) for each in value]
    if not isinstance(value, str):
        return value
    for word, stands in sorted(words.items(), key=lambda pair: -len(pair[1])):
        value = re.sub(rf"(?<![\w$.\]]){re.escape(stands)}(?![A-Z0-9]|_[A-Z0-9]|\w)", _always(f"${word}"), value)
    return value


def beginnings(rows: Iterable[Row | Include]) -> dict[str, str]:
    """Words for beginnings of names that several rows share, up to an index."""
    starts = [row.name[: match.end()] for row in rows if isinstance(row, Row) for match in re.finditer(r"\}", row.name)]
    shared = [start for start, number in Counter(starts).items() if number >= _SHARED]
    layers = [start for start in shared if "{expert<" not in start]
    words: dict[str, str] = {}
    for start in shared:
        word = "LAYER" if start in layers else "EXPERT"
        if start in layers and len(layers) > 1:
            parts = re.sub(r"\{[^}]*\}", "", start).split(".")
            telling = [each for each in parts if each and each not in ("model", "layers", "layer", "blocks")]
            word = re.sub(r"[^A-Z]+", "_", "_".join(telling[-2:]).upper()).strip("_") or "LAYER"
        plain, number = word, 2
        while word in words:
            word, number = f"{plain}{number}", number + 1
        words[word] = start
    return words
