"""Python's own unpickler, with names that have no effect: what it would import is recorded, and not imported."""

from __future__ import annotations

import pickle
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Set as AbstractSet
from contextlib import suppress
from io import BytesIO
from typing import Any

Name = tuple[str, str]


class Nothing:
    """Replaces every name: it can be called, built and filled without any effect."""

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def __setstate__(self, _: Any) -> None: ...
    def append(self, _: Any) -> None: ...
    def extend(self, _: Any) -> None: ...
    def __setitem__(self, _: Any, __: Any) -> None: ...
    def __call__(self, *_: Any, **__: Any) -> Nothing:
        return self


class Noting(pickle._Unpickler):
    """Python's unpickler, which imports nothing."""

    def __init__(self, data: bytes) -> None:
        super().__init__(BytesIO(data), encoding="utf-8", errors="replace")
        self.names: set[Name] = set()

    def find_class(self, module: str, name: str) -> type:
        self.names.add((module, name))
        return Nothing

    def persistent_load(self, _: Any) -> Nothing:
        return Nothing()


def imported(data: bytes) -> set[Name]:
    """Module and name of everything that an unpickler would import before it ends or fails."""
    theirs = Noting(data)
    with suppress(Exception):  # after an error it imports no more
        theirs.load()
    return theirs.names


def known_as(name: Name, own: AbstractSet[Name]) -> bool:
    """Whether a name is in a set, as it is written or as Python 3 renames what Python 2 wrote."""
    return not own.isdisjoint({name, NAME_MAPPING.get(name, name), (IMPORT_MAPPING.get(name[0], name[0]), name[1])})
