"""Parts of a place: some of its files, or a folder of it. Excluded files cannot be opened through them."""

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
            selected: whether the file that the target names remains selected.
        """
        self._place = place
        self.name = place.name
        self.selected = place.selected if selected else None
        self.parallel = place.parallel
        self.files: Mapping[str, int] = {path: size for path, size in place.files.items() if keep(path)}

    def open(self, path: str) -> Source:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is excluded: not read")
        return self._place.open(path)

    def read_bytes(self, path: str, limit: int) -> bytes:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is excluded: not read")
        return self._place.read_bytes(path, limit)

    def read_text(self, path: str, limit: int) -> str:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is excluded: not read")
        return self._place.read_text(path, limit)

    def origin(self) -> Origin:
        return self._place.origin()

    def close(self) -> None:
        self._place.close()


class Below:
    """A folder of another place, with the given files; closing it does not close the other place."""

    selected: str | None = None

    def __init__(self, place: Place, folder: str, files: Mapping[str, int]) -> None:
        """
        Args:
            folder: with a trailing slash, or "" for the place itself.
            files: path within the folder → bytes.
        """
        self._place, self._folder = place, folder
        self.name = folder.rstrip("/").rpartition("/")[2] or place.name
        self.parallel = place.parallel
        self.files = files

    def _inner(self, path: str) -> str:
        if path not in self.files:
            raise TargetError(f"{escape(self._folder)} has no file {escape(path)}")
        return self._folder + path

    def open(self, path: str) -> Source:
        return self._place.open(self._inner(path))

    def read_bytes(self, path: str, limit: int) -> bytes:
        return self._place.read_bytes(self._inner(path), limit)

    def read_text(self, path: str, limit: int) -> str:
        return self._place.read_text(self._inner(path), limit)

    def origin(self) -> Origin:
        return self._place.origin()

    def close(self) -> None:
        """The whole place may still be needed."""
