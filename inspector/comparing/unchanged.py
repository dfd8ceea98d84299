"""Whether files have changed since their headers were read."""

from __future__ import annotations

from pathlib import Path

from inspector.errors import SourceError
from inspector.model import Checkpoint
from inspector.units import escape, integer

#: Path → size, modification time and inode number.
Stamps = dict[str, tuple[int, int, int]]


def stamps(checkpoint: Checkpoint) -> Stamps:
    """The stamps of each local weight file. Raises SourceError if one is gone or has another size."""
    if checkpoint.origin.kind != "local":
        return {}
    place = Path(checkpoint.origin.location)
    root = place if place.is_dir() else place.parent
    found: Stamps = {}
    for header in checkpoint.files:
        try:
            status = (root / header.path).stat()
        except OSError as error:
            raise SourceError(f"{escape(header.path)} changed while it was being read: {error.strerror}") from error
        if status.st_size != header.size:
            sizes = f"{integer(header.size)} bytes before, {integer(status.st_size)} now"
            raise SourceError(f"{escape(header.path)} changed while it was being read: {sizes}")
        found[header.path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def check(checkpoint: Checkpoint, before: Stamps) -> None:
    """Raises SourceError if a file has changed."""
    for path, stamp in stamps(checkpoint).items():
        if before.get(path) != stamp:
            raise SourceError(
                f"{escape(path)} changed while it was being read: compare again when nothing writes to it"
            )
