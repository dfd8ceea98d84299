"""Tables as files: the families that tools/zoo derived, as JSON, a row a line.

    {
     "about": "Model type opt.",
     "name": "opt",
     "names": {"LAYER": "model.decoder.layers.{layer<num_hidden_layers}"},
     "rows": [
      ["embed_tokens", "model.decoder.embed_tokens", "vocab_size, word_embed_proj_dim"],
      {"columns": {"tower": "decoder"}, "rows": [
       ["q_proj", "$LAYER.self_attn.q_proj", "hidden_size, hidden_size", {"bias": "enable_bias"}]]},
      {"scope": "vision_config", "prefix": "vision_tower.", "tower": "vision"}
     ]
    }

A row is its role, its name and its shape, then the columns of `Row` that are not at their defaults, with those of
the group it is in. An object with a `scope` is an `Include`. `$LAYER` stands for the beginning that `names` gives it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from inspector.architectures.table import Family, Include, Row

_SHORT = re.compile(r"\$([A-Z_]+)")
#: Rows next to each other that are written under their common columns, and these columns.
_GROUP, _COMMON = 3, ("tower", "heads")
#: Rows that must begin alike for the beginning to get a name.
_SHARED = 3


def read(text: str) -> Family:
    """The family that a file says. Raises ValueError, KeyError or TypeError where it is no table."""
    document = json.loads(text)
    names = document.pop("names", {})
    del document["about"]
    rows = tuple(_read(document.pop("rows"), names, {}))
    return Family(rows=rows, **{field: _frozen(value) for field, value in document.items()})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _read(entries: Iterable[Any], names: Mapping[str, str], columns: Mapping[str, Any]) -> Iterator[Row | Include]:
    for entry in entries:
        if isinstance(entry, list):
            role, name, shape, *own = entry
            whole = _SHORT.sub(lambda short: names[short[1]], name, count=1)
            yield Row(role, whole, shape, **{**columns, **(own[0] if own else {})})
        elif "scope" in entry:
            yield Include(**entry)
        else:
            yield from _read(entry["rows"], names, entry["columns"])


def text(family: Family, about: str) -> str:
    """The file that says a family; `read` gives it back."""
    names = beginnings(family)
    fields = {"about": about, **_set(family, ("rows",)), "names": {word: start for start, word in names.items()}}
    lines = [f" {json.dumps(field)}: {json.dumps(value)}," for field, value in fields.items() if value != {}]
    rows = ",\n".join(_groups(family.rows, names))
    return "\n".join(["{", *lines, ' "rows": [', rows, " ]", "}", ""])


def _groups(rows: Iterable[Row | Include], names: Mapping[str, str]) -> Iterator[str]:
    for columns, members in groupby(rows, _columns):
        entries = list(members)
        if columns and len(entries) >= _GROUP:
            inner = ",\n".join(f"   {_entry(row, names, columns)}" for row in entries)
            yield f'  {{"columns": {json.dumps(columns)}, "rows": [\n{inner}]}}'
        else:
            yield from (f"  {_entry(row, names, {})}" for row in entries)


def _columns(row: Row | Include) -> dict[str, Any]:
    if isinstance(row, Include):
        return {}
    return {field: value for field, value in _set(row, ()).items() if field in _COMMON}


def _entry(row: Row | Include, names: Mapping[str, str], columns: Mapping[str, Any]) -> str:
    if isinstance(row, Include):
        return json.dumps(_set(row, ()))
    start = max((start for start in names if row.name.startswith(start)), key=len, default="")
    name = ("$" + names[start] if start else "") + row.name[len(start) :]
    own = _set(row, ("role", "name", "shape", *columns))
    return json.dumps([row.role, name, row.shape, *([own] if own else [])])


def _set(entry: Row | Include | Family, left_out: Iterable[str]) -> dict[str, Any]:
    """The columns that are not at their defaults."""
    defaults = entry._field_defaults
    return {
        field: value
        for field, value in zip(entry._fields, entry, strict=True)
        if field not in left_out and (field not in defaults or value != defaults[field])
    }


def beginnings(family: Family) -> dict[str, str]:
    """Beginnings of names that several rows share, up to an index → what they are called."""
    counts = Counter(
        row.name[: match.end()] for row in family.rows if isinstance(row, Row) for match in re.finditer(r"\}", row.name)
    )
    shared = [start for start, number in counts.items() if number >= _SHARED]
    layers = [start for start in shared if "{expert<" not in start]
    names: dict[str, str] = {}
    for start in shared:
        word = "LAYER" if start in layers else "EXPERT"
        if start in layers and len(layers) > 1:
            words = re.sub(r"\{[^}]*\}", "", start).split(".")
            telling = [each for each in words if each and each not in ("model", "layers", "layer", "blocks")]
            word = re.sub(r"[^A-Z]+", "_", "_".join(telling[-2:]).upper()).strip("_") or "LAYER"
        while word in names.values():
            word += "_"
        names[start] = word
    return names
