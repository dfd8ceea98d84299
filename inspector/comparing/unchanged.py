"""Whether files are what they were when their headers were read."""

from __future__ import annotations

from pathlib import Path

from inspector.errors import SourceError
from inspector.model import Checkpoint
from inspector.units import escape, integer

#: Path → size, time of the last change, and number of the file.
Stamps = dict[str, tuple[int, int, int]]


def stamps(checkpoint: Checkpoint) -> Stamps:
    """Those of each local weight file. Raises SourceError where one has gone, or another size than its header says."""
    if checkpoint.origin.kind != "local":
        return {}
    place = Path(checkpoint.origin.location)
    root = place if place.is_dir() else place.parent
    found: Stamps = {}
    for header in checkpoint.files:
        try:
            status = (root / header.path).stat()
        except OSError as error:
            raise SourceError(f"{escape(header.path)} changed while it was read: {error.strerror}") from error
        if status.st_size != header.size:
            sizes = f"{integer(header.size)} bytes before, {integer(status.st_size)} now"
            raise SourceError(f"{escape(header.path)} changed while it was read: {sizes}")
        found[header.path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def check(checkpoint: Checkpoint, before: Stamps) -> None:
    """Raises SourceError where a file is not what it was."""
    for path, stamp in stamps(checkpoint).items():
        if before.get(path) != stamp:
            raise SourceError(f"{escape(path)} changed while it was read: compare again when nothing writes to it")
