"""Folders of torch.distributed.checkpoint, whose `.metadata` describes the contents of the ranks' files."""

from __future__ import annotations

from typing import NamedTuple

from inspector.formats.pytorch import distributed
from inspector.model import Finding, Header
from inspector.opening.selection import Selection
from inspector.sources import Place, Source
from inspector.units import plural


class Collective(NamedTuple):
    """The contents of a folder's `.metadata`."""

    path: str
    folder: str  # "" or ending in "/"
    said: distributed.Described

    def read(self, source: Source, path: str) -> Header:
        """The header of one rank's file. Raises SourceError."""
        items = self.said.items.get(path.removeprefix(self.folder), ())
        return distributed.read(source, path, items, self.said.facts)

    def absent(self, selected: Selection) -> tuple[Finding, ...]:
        """Files that it names but that do not exist."""
        there = {path.removeprefix(self.folder) for path in selected.paths}
        return tuple(
            Finding(
                "missing-shard",
                "error",
                f"it puts {plural(len(items), 'tensor or object', 'tensors and objects')} in {file!r:.120}, "
                "which does not exist",
                self.path,
            )
            for file, items in sorted(self.said.items.items())
            if file not in there
        )


def described(place: Place, path: str) -> Collective:
    """Read a `.metadata` file.

    Raises:
        FormatError: it is not such a file, or damaged.
        SourceError: it cannot be read.
    """
    folder = path.rpartition("/")[0]
    raw = place.read_bytes(path, distributed.MAX_METADATA)
    return Collective(path, folder + "/" if folder else "", distributed.described(raw, path))
