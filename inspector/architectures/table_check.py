"""Checks a user's table: what is wrong with it in one line, with its file and row."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inspector.architectures import formula, table_file
from inspector.architectures.store import Store, documents
from inspector.architectures.table import CACHE_KINDS, Family, Row
from inspector.errors import TableError
from inspector.units import escape

#: Columns of a row, and of an include, that are formulas.
_FORMULAS = ("shape", "bias", "when", "tied", "active", "first_expert", "stacked")
_INCLUDED = ("when", "tied")


def check(home: Store, kind: str, name: str) -> Family:
    """The family in the table.

    Raises:
        TableError: it is not a family, or one of its formulas is invalid.
    """
    try:
        family = table_file.read(kind, name, home.find)
        for kept in family.cache or ():
            if kept.kind not in CACHE_KINDS:
                raise TableError(f"a cache of kind {kept.kind!r:.40}: known: {', '.join(CACHE_KINDS)}")
        for where, text in formulas(family):
            if wrong := fault(text):
                raise TableError(f"{where}: {wrong}")
        for index in {index for entry in family.rows for index, _ in entry.indexes} & formula.FUNCTIONS.keys():
            raise TableError(f"the index {{{index}}} has the name of a formula function")
    except TableError as error:
        raise TableError(f"{_file(home, kind, name)}: {error}") from error
    return family


def _file(home: Store, kind: str, name: str) -> str:
    """The file with the table."""
    named = home.home / kind / f"{name}.json"
    return escape(str(next((path for path, *place, _ in documents(home.home) if place == [kind, name]), named)))


def formulas(family: Family) -> Iterator[tuple[str, Any]]:
    """Every formula of a family, and its location."""
    yield from ((f"derived {field}", text) for field, text in family.derived.items())
    yield from ((f"cache_derived {field}", text) for field, text in family.cache_derived.items())
    for kept in family.cache or ():
        yield from ((f"the cache of kind {kept.kind}", text) for text in kept[1:8] if text != "")
    for entry in family.rows:
        where = f"the row of {entry.name}" if isinstance(entry, Row) else f"the include of {entry.scope}"
        columns = _FORMULAS if isinstance(entry, Row) else _INCLUDED
        texts = [getattr(entry, column) for column in columns] + [bound for _, bound in entry.indexes]
        yield from ((where, text) for text in texts if text != "")


def fault(text: Any) -> str | None:
    """The fault of a formula; None if it is valid."""
    try:
        tree = formula.parse(text)
    except (SyntaxError, AttributeError) as error:
        return f"`{escape(str(text))}` is not a formula: {getattr(error, 'msg', error)}"
    loops = {loop.iter for node in ast.walk(tree) if formula.is_loop(node) for loop in node.generators}
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) and node not in loops else None
        unknown = called and not (isinstance(called, ast.Name) and called.id in formula.FUNCTIONS)
        no_loop = isinstance(node, ast.ListComp) and not formula.is_loop(node)
        if unknown or no_loop or not formula.known(node):
            return f"`{escape(str(text))}`: `{escape(ast.unparse(node))}` is not supported in formulas"
    return None
