"""What a person types → a `Place` to read: a path that exists is local; the rest is told by its shape."""

from __future__ import annotations

from pathlib import Path

from inspector.errors import TargetError
from inspector.sources import Place
from inspector.units import escape


def place_of(target: str, revision: str | None = None) -> Place:
    """The place that `target` names.

    Raises:
        TargetError: it names nothing that can be found.
        SourceError: it is there, and cannot be read.
    """
    from inspector.sources.local import LocalPlace

    path = Path(target).expanduser()
    try:
        exists = path.exists() or path.is_symlink()
    except (OSError, ValueError):
        exists = False
    if exists:
        return LocalPlace(path)
    raise TargetError(f"{escape(target)}: no such file or folder")
