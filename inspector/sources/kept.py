"""A network place for callers that use one file repeatedly: it is opened once and fetched once."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.errors import SourceError
from inspector.model import Origin
from inspector.sources import Place, Source, decoded
from inspector.units import escape, integer

#: Total bytes of small files that are kept.
MOST_KEPT = 32 << 20


class Kept:
    """A `Place` whose files stay open until the place is closed."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._open: dict[str, _Open] = {}
        self._small: dict[str, bytes] = {}
        self._room = MOST_KEPT
        self.name, self.selected, self.parallel = place.name, place.selected, place.parallel
        self.files: Mapping[str, int] = place.files

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
        if len(self._small[path]) > limit:
            size = integer(len(self._small[path]))
            raise SourceError(f"{escape(path)} has {size} bytes; at most {integer(limit)} are read")
        return self._small[path]

    def read_text(self, path: str, limit: int) -> str:
        return decoded(self.read_bytes(path, limit), path)

    def origin(self) -> Origin:
        return self._place.origin()

    def close(self) -> None:
        for source in self._open.values():
            source.end()
        self._place.close()


class _Open:
    """A `Source` that is closed with its place, not before."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.size = source.size

    def read(self, offset: int, length: int) -> bytes:
        return self._source.read(offset, length)

    def prefix(self, length: int) -> memoryview:
        return self._source.prefix(length)

    def close(self) -> None:
        """It stays open."""

    def end(self) -> None:
        """Close it."""
        self._source.close()
