"""A place with only some of its files: those left out of an audit cannot be opened through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inspector.errors import TargetError
from inspector.model import Origin
from inspector.sources import Place, Source
from inspector.units import escape


class Narrowed:
    """A `Place` that lists, and opens, only the files of another place for which `keep` is true."""

    def __init__(self, place: Place, keep: Callable[[str], bool], *, selected: bool = True) -> None:
        """
        Args:
            selected: whether the file that a target names stays the one that is selected.
        """
        self._place = place
        self.name = place.name
        self.selected = place.selected if selected else None
        self.parallel = place.parallel
        self.files: Mapping[str, int] = {path: size for path, size in place.files.items() if keep(path)}

    def open(self, path: str) -> Source:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is left out: not read")
        return self._place.open(path)

    def read_bytes(self, path: str, limit: int) -> bytes:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is left out: not read")
        return self._place.read_bytes(path, limit)

    def read_text(self, path: str, limit: int) -> str:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is left out: not read")
        return self._place.read_text(path, limit)

    def origin(self) -> Origin:
        return self._place.origin()

    def close(self) -> None:
        self._place.close()
