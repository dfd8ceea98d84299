"""A part of a whole as a separate model: SigLIP's text model is the rows of SigLIP that `text_config` shapes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from inspector.architectures.table import Family, Row

#: A field of another part.
_ABROAD = re.compile(r"_config\.")


def part_of(
    whole: Family, scope: str, under: str, *, keep: bool = False, head: str = "", renamed: Mapping[str, str] = {}
) -> Family:
    """The family of a part, whose own fields are the whole's `text_config.hidden_size` and so on.

    Args:
        scope: the field of the whole with the part's configuration; dotted for a part of a part. under: the prefix of
        its tensors' names in the whole: "text_model.".
        keep: whether they keep it in the part.
        head: the whole's class suffix, if its rows differ between classes.
        renamed: pieces of names → their names in the separate part.
    """
    outer = re.compile(rf"\b{re.escape(scope)}\.")
    taken = (row for row in whole.rows if isinstance(row, Row) and row.name.startswith(under))
    rows = tuple(
        _inside(row._replace(name=_renamed(row.name.removeprefix("" if keep else under), renamed)), outer)
        for row in taken
        if not (head and row.heads) or head in row.heads.split()
    )
    defaults = whole.defaults
    for field in scope.split("."):
        defaults = defaults.get(field, {})
    own = {outer.sub("", name): outer.sub("", text) for name, text in whole.derived.items()}
    derived = {name: text for name, text in own.items() if not (_ABROAD.search(name) or _ABROAD.search(text))}
    return Family(whole.name, {}, rows, head="Model", defaults=defaults, derived=derived)


def _renamed(name: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        name = name.replace(old, new)
    return name


def _inside(row: Row, outer: re.Pattern[str]) -> Row:
    """A row in terms of the part's own fields; the part has one class and one tower."""
    columns: dict[str, Any] = {
        column: outer.sub("", value) if isinstance(value, str) else value for column, value in row._asdict().items()
    }
    return Row(**{**columns, "heads": "", "tower": "text"})
