"""Rows of a table as compact JSON: 92,000 tensors of DeepSeek-V3 take 2 MB. `page.js` unpacks it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

from inspector.report.pages.parts import Cell, Column
from inspector.units import escape

#: The largest integer that JavaScript represents exactly; larger ones are written as text.
EXACT = 2**53 - 1
#: The most characters of a string.
LONGEST = 4000
_NUMBER = re.compile(r"(?<![0-9])(?:0|[1-9][0-9]{0,8})(?![0-9])", re.ASCII)


def columns(described: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[dict[str, Any]]:
    """Each column with its values: plain `v`alues, `t`emplates with their numbers, or a `d`ictionary with
    its indexes; if all values are equal, with their number.
    """
    return [
        {"name": each.name, "kind": each.kind, "filtered": each.filtered, **_values(each, [row[at] for row in rows])}
        for at, each in enumerate(described)
    ]


def _values(column: Column, cells: Sequence[Cell]) -> dict[str, Any]:
    if column.kind == "text":
        texts = {cell: "" if cell is None else escape(str(cell), LONGEST) for cell in dict.fromkeys(cells)}
        cells = [texts[cell] for cell in cells]
    known = dict.fromkeys(cells)
    if len(known) == 1:
        return {"d": list(map(_plain, known)), "i": len(cells)}
    if len(known) * 4 <= len(cells):
        at = {cell: number for number, cell in enumerate(known)}
        return {"d": list(map(_plain, known)), "i": [at[cell] for cell in cells]}
    if column.kind == "text":
        return _templates([str(cell) for cell in cells])
    return {"v": list(map(_plain, cells))}


def _plain(cell: Cell) -> Any:
    """A cell as JSON; a number that JavaScript cannot represent becomes text, marked by `big`."""
    if isinstance(cell, float) and not isfinite(cell):
        return None
    return {"big": str(cell)} if isinstance(cell, int) and abs(cell) > EXACT else cell


def _templates(texts: Sequence[str]) -> dict[str, Any]:
    """`layers.3.mlp.7` → the template `layers.\\0.mlp.\\0`, and 3 and 7: names of one role share the template."""
    known: dict[str, int] = {}
    numbered = []
    for text in texts:
        # No string contains a NUL here: `escape` has made it visible.
        number = known.setdefault(_NUMBER.sub("\0", text), len(known))
        numbered.append([number, *map(int, _NUMBER.findall(text))])
    return {"t": list(known), "n": numbered}


def script_json(value: Any) -> str:
    """JSON that can neither end a script nor begin markup: `<`, `>`, `&` and all beyond ASCII as `\\u….`."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
