"""Places made of another: some of its files, a folder of it, or its files kept open."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inspector.errors import TargetError
from inspector.model import Origin
from inspector.sources import Place, Readable, Source, check_size
from inspector.units import escape

#: Total bytes of small files that are kept.
MOST_KEPT = 32 << 20


class _Around(Readable):
    """A `Place` that reads another one's files."""

    def __init__(self, place: Place, files: Mapping[str, int]) -> None:
        self._place = place
        self.name, self.selected, self.parallel = place.name, place.selected, place.parallel
        self.files = files

    def inner(self, path: str) -> str:
        """The path in the other place. Raises TargetError if the file is not to be read."""
        return path

    def open(self, path: str) -> Source:
        return self._place.open(self.inner(path))

    def read_bytes(self, path: str, limit: int) -> bytes:
        return self._place.read_bytes(self.inner(path), limit)

    def origin(self) -> Origin:
        return self._place.origin()

    def close(self) -> None:
        self._place.close()


class Narrowed(_Around):
    """The files of another place for which `keep` is true; others are neither listed nor opened."""

    def __init__(self, place: Place, keep: Callable[[str], bool], *, selected: bool = True) -> None:
        """
        Args:
            selected: whether the file that the target names remains selected.
        """
        super().__init__(place, {path: size for path, size in place.files.items() if keep(path)})
        self.selected = place.selected if selected else None

    def inner(self, path: str) -> str:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is excluded: not read")
        return path


class Below(_Around):
    """A folder of another place, with the given files; closing it does not close the other place."""

    def __init__(self, place: Place, folder: str, files: Mapping[str, int]) -> None:
        """
        Args:
            folder: with a trailing slash, or "" for the place itself.
            files: path within the folder → bytes.
        """
        super().__init__(place, files)
        self._folder = folder
        self.name, self.selected = folder.rstrip("/").rpartition("/")[2] or place.name, None

    def inner(self, path: str) -> str:
        if path not in self.files:
            raise TargetError(f"{escape(self._folder)} has no file {escape(path)}")
        return self._folder + path

    def close(self) -> None:
        """Do nothing: the whole place may still be needed."""


class Kept(_Around):
    """A network place whose files stay open until it is closed, each fetched once."""

    def __init__(self, place: Place) -> None:
        super().__init__(place, place.files)
        self._open: dict[str, _Open] = {}
        self._small: dict[str, bytes] = {}
        self._room = MOST_KEPT

    def open(self, path: str) -> Source:
        if path not in self._open:
            self._open[path] = _Open(self._place.open(path))
        return self._open[path]

    def read_bytes(self, path: str, limit: int) -> bytes:
        if path not in self._small:
            data = self._place.read_bytes(path, limit)
            if len(data) > self._room:
                return data
            self._room -= len(data)
            self._small[path] = data
        check_size(len(self._small[path]), limit, path)
        return self._small[path]

    def close(self) -> None:
        for source in self._open.values():
            source.end()
        self._place.close()


class _Open:
    """A `Source` that is closed with its place, not before."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.size, self.read, self.prefix, self.end = source.size, source.read, source.prefix, source.close

    def close(self) -> None:
        """Do nothing: the file stays open until its place is closed."""
