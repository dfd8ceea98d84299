"""Tables as text: a family as rows of JSON, and every table in one layout, no line of which is wider than 200 columns.

    python tools/table_text.py [--check]    # lays out all tables again, or lists those whose layout differs

Repeated text is written once: prefixes of names and long texts get a word under `let`, neighbouring rows that differ in
a word or two become one row of alternatives, and columns that many rows share go before them.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from inspector.architectures.store import FOLDER, ONE
from inspector.architectures.table import Family, Include, Row
from inspector.architectures.table_file import alternatives, joined, statistics, unmarked

#: The maximum width of a line, and the part of it reserved for the brackets that close after its last value.
WIDTH, _CLOSING = 200, 10
#: Columns that a group of rows must share, and the minimum number of rows.
_COMMON, _GROUP = ("tower", "heads", "when"), 4
#: Rows that must share a prefix for it to get a word.
_SHARED = 3
#: Characters of a row's role, name and shape beyond which alternatives are no easier to read.
_WIDE = 130


class Line(NamedTuple):
    """One entry of `rows`: the rows that it stands for, and its text."""

    rows: tuple[Row | Include, ...]
    entry: Any  # as JSON, without the columns of its group


def text(family: Family, name: str, *, words: Mapping[str, str] | None = None, **beside: Any) -> str:
    """The text of the table in the file `name`. `beside` are fields that are not part of the family: about, source …"""
    named = {**beginnings(family.rows), **(words or {})}
    fields = {field: beside.get(field) for field in ("about", "source", "made", "notes")}
    fields |= {
        field: value for field, value in set_columns(family, ("rows",)).items() if (field, value) != ("name", name)
    }
    fields |= {field: value for field, value in beside.items() if field not in fields}
    rows = list(_grouped(lines_of(family.rows, named), named))
    body = dumps(rows)
    fields["let"] = {word: start for word, start in named.items() if f"${word}" in body}
    return layout({field: value for field, value in fields.items() if value or value == ""} | {"rows": rows})


def put(table: str, field: str, value: Any) -> str:
    """The text of a table with another value of a field (`with_field`)."""
    return layout(with_field(json.loads(table), field, value))


def with_field(table: Mapping[str, Any], field: str, value: Any) -> dict[str, Any]:
    """A table with another value of a field, in its old place or after `types`; an empty value is left out."""
    fields = list(table.items())
    names = [name for name, _ in fields]
    if field in names:
        fields[names.index(field)] = (field, value)
    else:
        fields.insert(names.index("types") + 1, (field, value))
    return {name: each for name, each in fields if name != field or value}


# --- layout ---------------------------------------------------------------------------------------

#: The kind of a value, by its field in a table, a block or an entry; any other is plain.
_KINDS = {
    **dict.fromkeys(("rows", "cache", "pieces", "embedding"), "entries"),
    **dict.fromkeys(("after", "instead"), "lists"),
    **dict.fromkeys(("let", "with", "derived", "cache_derived", "names", "columns"), "texts"),
    **dict.fromkeys(("when", "without", "source"), "text"),
    "blocks": "tables",
}
#: The kinds of nested values; a row has texts, and its columns are a mapping of texts.
_WITHIN = {"tables": "table", "lists": "entries", "texts": "text", "row": "text"}


class Item(NamedTuple):
    """A value, with its kind and the text before it."""

    head: str
    value: Any
    kind: str


def dumps(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def layout(document: Mapping[str, Any]) -> str:
    """The text of a file with a table, or with several, each under its name."""
    return _laid(_unbroken(Item("", document, "table" if ONE & document.keys() else "tables")), 0, 0) + "\n"


def _items(item: Item) -> list[Item]:
    """The values within a value."""
    if isinstance(item.value, Mapping):
        kinds = _KINDS if item.kind == "table" else dict.fromkeys(item.value, _WITHIN.get(item.kind, "plain"))
        return [Item(f"{dumps(name)}: ", each, kinds.get(name, "plain")) for name, each in item.value.items()]
    if item.kind == "entries":
        return [Item("", each, "row" if isinstance(each, list) else "table") for each in item.value]
    kind = _WITHIN.get(item.kind, "plain")
    return [Item("", each, "texts" if kind == "text" and isinstance(each, Mapping) else kind) for each in item.value]


def _unbroken(item: Item) -> Item:
    """A value whose broken texts are joined again."""
    if item.kind == "text":
        return item._replace(value=joined(item.value))
    if not isinstance(item.value, Mapping | list):
        return item
    inner = [_unbroken(each).value for each in _items(item)]
    return item._replace(value=dict(zip(item.value, inner, strict=True)) if isinstance(item.value, Mapping) else inner)


def _laid(item: Item, indent: int, column: int) -> str:
    """A value that starts in a column: on one line if it fits, else on several, indented further than `indent`."""
    whole = dumps(item.value)
    if column + len(whole) <= WIDTH - _CLOSING:
        return whole
    if item.kind == "tables" and isinstance(item.value, Mapping):
        pad = " " * indent
        return "{" + f",\n{pad}".join(each.head + _laid(each, indent, len(each.head)) for each in _items(item)) + "}"
    if isinstance(item.value, Mapping):
        return "{" + _filled(_items(item), indent + 1, column + 1) + "}"
    if item.kind == "entries" or (item.kind == "plain" and isinstance(item.value, list) and _has_mappings(item.value)):
        return "[" + ",".join(f"\n{' ' * (indent + 1)}{line}" for line in _entries(_items(item), indent + 1)) + "]"
    if isinstance(item.value, list):
        return "[" + _filled(_items(item), indent + 1, column + 1) + "]"
    on_a_line = indent + len(item.head)
    if column > on_a_line and on_a_line + len(whole) <= WIDTH - _CLOSING:
        return whole  # which is too wide for this line, but not for one of its own
    if isinstance(item.value, str) and item.kind == "text":
        lines = _lines(item.value, max(WIDTH - _CLOSING - column - 4, 60))
        return "[" + _filled([Item("", line, "plain") for line in lines], indent + 1, column + 1) + "]"
    return whole


def _has_mappings(values: Sequence[Any]) -> bool:
    return any(isinstance(each, Mapping) for each in values)


def _entries(items: Iterable[Item], indent: int) -> Iterator[str]:
    """Entries, each on its own line, or on several; only uses of blocks share one."""
    line, was_use = "", False
    for item in items:
        entry = _laid(item, indent, indent + 2)
        is_use = isinstance(item.value, Mapping) and "use" in item.value and "\n" not in entry
        if line and is_use and was_use and indent + len(line) + len(entry) + 2 <= WIDTH - _CLOSING:
            line = f"{line}, {entry}"
            continue
        if line:
            yield line
        line, was_use = entry, is_use
    yield line


def _filled(items: Iterable[Item], indent: int, column: int) -> str:
    """Values on filled lines; of those that need several lines themselves, rows and mappings may start anywhere."""
    found = ""
    for item in items:
        comma = ", " if found else ""
        whole = len(item.head) + len(dumps(item.value))
        start = column + len(comma)
        begun = item.head + _laid(item, indent, start + len(item.head))
        fits = start + len(begun.partition("\n")[0]) <= WIDTH - _CLOSING
        flows = "\n" not in begun or (indent + whole > WIDTH - _CLOSING and begun[len(item.head)] in "{[")
        if not (fits and flows) and (found or indent + whole <= WIDTH - _CLOSING < column + whole):
            comma = f"{',' if found else ''}\n{' ' * indent}"
            begun, start = item.head + _laid(item, indent, indent + len(item.head)), indent
        found += comma + begun
        column = len(begun.rpartition("\n")[2]) + (0 if "\n" in begun else start)
    return found


def _lines(whole: str, room: int) -> Iterator[str]:
    """A text as lines of at most `room` characters: broken after a comma or a bar, otherwise at a space."""
    line = ""
    for piece in re.split(r"(?<=[,|]) ", whole):
        for part in textwrap.wrap(piece, room, break_long_words=False, break_on_hyphens=False):
            if line and len(line) + len(part) >= room:
                yield line
                line = ""
            line = f"{line} {part}" if line else part
    yield line


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
    """Each row or include alone, and a batch norm together with its statistics."""
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
    """Rows as one entry of alternatives; None if they are too different."""
    rows = [unit[0] for unit in units if isinstance(unit[0], Row)]
    others = {row._replace(role="", name="", shape="", branch="") for row in rows}
    if len(rows) < len(units) or len(others) > 1 or len(set(map(len, units))) > 1:
        return None
    role, name, shape, branch = (
        _alternatives([getattr(row, column) for row in rows]) for column in ("role", "name", "shape", "branch")
    )
    if role is None or name is None or shape is None or branch is None or "(" not in name:
        return None
    texts = [role, name, shape]
    if len({row[:3] for row in rows}) < len(rows) or len("".join(_worded(texts, words))) > _WIDE:
        return None
    return [*texts, {**_own(units[0]), **({"branch": branch} if branch else {})}]


_PIECES = re.compile(r"\$?[A-Za-z0-9]+|.", re.DOTALL)
_NAMES = re.compile(r"\$?[A-Za-z0-9_.]+|.", re.DOTALL)


def _alternatives(texts: Sequence[str]) -> str | None:
    """`q_proj`, `k_proj` → `(q|k)_proj`; None if the differing part is not a word."""
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


def _grouped(lines: Iterable[Line], words: Mapping[str, str]) -> Iterator[Any]:
    """The lines' entries, neighbours of common columns under these."""
    for columns, members in groupby(lines, _common):
        entries = list(members)
        if columns and len(entries) >= _GROUP:
            yield {"columns": _worded(columns, words), "rows": [_written(each, words, columns) for each in entries]}
        else:
            yield from (_written(each, words, {}) for each in entries)


def _common(line: Line) -> dict[str, Any]:
    columns = line.entry[3] if isinstance(line.entry, list) else {}
    return {field: value for field, value in columns.items() if field in _COMMON}


def _written(line: Line, words: Mapping[str, str], columns: Mapping[str, Any]) -> Any:
    if isinstance(line.entry, dict):
        return _worded(line.entry, words)
    *texts, own = _worded(line.entry, words)
    own = {field: value for field, value in own.items() if field not in columns}
    if "branch" in own and (name := marked(texts[1], own["branch"])):
        texts[1] = name
        del own["branch"]
    return [*texts, *([own] if own else [])]


#: A placeholder in a name, which is not searched for a branch.
_STANDS = re.compile(r"\$[A-Z][A-Z0-9_]*|\{[^{}]*\}")


def marked(name: str, branch: str) -> str | None:
    """A name with brackets around the pieces that are its branch; None if the name does not say that."""
    plain = _STANDS.sub(lambda found: " " * len(found[0]), name)
    before, after = (r"(?<!\d)", r"(?!\d)") if branch.isdigit() else (r"(?<![^\W_])", r"(?![^\W_])")
    open_end = "" if len(branch) > 3 else after  # `cross` is a piece of `crossattention`
    whole = list(re.finditer(f"{before}({re.escape(branch)}){open_end}", plain))
    apart = ".*?".join(f"{before}({re.escape(piece)}){after}" for piece in branch.split("."))
    found = max(whole, key=lambda each: (_is_whole(each, plain), each.start())) if whole else re.search(apart, plain)
    if found is None:
        return None
    chosen = name
    for at in range(len(found.groups()), 0, -1):
        chosen = f"{chosen[: found.start(at)]}[{found[at]}]{chosen[found.end(at) :]}"
    chosen = chosen.replace("].[", ".")
    stated = [(each["name"], each["branch"]) for each in alternatives({"name": name, "branch": branch})]
    return chosen if [unmarked(each["name"]) for each in alternatives({"name": chosen})] == stated else None


def _is_whole(found: re.Match[str], name: str) -> bool:
    """Whether a piece consists of whole words between dots."""
    return name[found.end() :][:1] in ("", ".") and name[: found.start()][-1:] in ("", ".")


def _always(text: str) -> Callable[[object], str]:
    """A replacement that inserts a text literally, including backslashes."""
    return lambda _: text


def _worded(value: Any, words: Mapping[str, str]) -> Any:
    """The value with words in place of texts: the longest prefix first, one after the other."""
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
    """Words for prefixes of names that several rows share, up to an index."""
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


def main() -> int:
    """Lay out all tables; with `--check` only list those whose layout differs."""
    differing = 0
    for path in sorted(FOLDER.glob("*/*.json")):
        before = path.read_text(encoding="utf-8")
        if before != (after := layout(json.loads(before))):
            differing += 1
            print(path.relative_to(FOLDER))
            if "--check" not in sys.argv:
                path.write_text(after, encoding="utf-8")
    return bool(differing and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
