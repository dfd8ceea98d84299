"""A unit → the rows of its checkpoints. A failure of one is a row, and does not affect the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from inspector.auditing import targets
from inspector.auditing.examination import examined
from inspector.auditing.subject import Subject
from inspector.errors import InspectorError, NetworkError
from inspector.scanning.rows import Rows
from inspector.scanning.unit import Unit
from inspector.sources import Place
from inspector.sources.listing import Entry, entries, entries_named, entries_of
from inspector.sources.local import LocalPlace
from inspector.sources.ollama import PREFIX
from inspector.sources.places import Below, Kept
from inspector.sources.targets import place_of

#: Errors of a format, a store or our own, which concern a checkpoint, not the scan.
_ITS_OWN = (InspectorError, OSError, ValueError, RecursionError, MemoryError, AssertionError, LookupError, TypeError)


def inspect(unit: Unit, rows: Rows) -> int:
    """Add the rows of each checkpoint of a unit; return their number.

    Raises:
        NetworkError: a server failed; nothing was added, and another attempt may succeed.
    """
    if unit.error is not None:
        rows.add_failed(unit, unit.target, unit.error_kind or "TargetError", unit.error)
        return 1
    number = 0
    try:
        for found in subjects(unit):
            if isinstance(found, targets.Failed):
                if isinstance(found.reason, NetworkError) and not number:
                    raise found.reason
                rows.add_failed(unit, found.target, type(found.reason).__name__, str(found.reason))
            else:
                judged = examined(found, own_process=True)
                if number and not found.is_model and not judged.findings:
                    continue
                rows.add(unit, found.target, found, judged)
            number += 1
    except NetworkError:
        if not number:
            raise
    except _ITS_OWN as error:
        rows.add_failed(unit, unit.target, type(error).__name__, str(error) or type(error).__name__)
        number += 1
    return number


def subjects(unit: Unit) -> Iterator[Subject | targets.Failed]:
    """The checkpoints of a unit; each is closed when the next is requested."""
    if unit.kind == "folder":
        root = Path(unit.where)
        yield from _local(unit, root, list(entries(root)))
    elif unit.kind == "files":
        root = Path(unit.where)
        listed = list(entries_named(root, (path for path, _ in unit.files)))
        yield from _local(unit, root, listed)
    elif unit.kind == "store":
        from inspector.sources.filesystem import FilesystemPlace  # imports fsspec

        listed = [Entry(path, "file", size) for path, size in unit.files]
        with closing(Kept(FilesystemPlace(unit.where, targets.listed_files(listed)))) as remote:
            yield from _remote(unit, remote, listed)
    elif targets.local_path(unit.where) or unit.where.startswith(PREFIX):
        yield from targets.subjects(unit.where)
    else:
        yield from _repository(unit)


def _repository(unit: Unit) -> Iterator[Subject | targets.Failed]:
    """The checkpoints of a repository, or of any other target that is not a local path."""
    with closing(place_of(unit.where)) as place:
        if isinstance(place, LocalPlace):  # from the Hub's cache
            yield from targets.subjects(unit.where)
            return
        listed = entries_of(place)
        if place.selected is not None:
            yield Subject(Kept(place), listed, unit.target)
        else:
            yield from _remote(unit, Kept(place), listed)


def _local(unit: Unit, root: Path, listed: list[Entry]) -> Iterator[Subject]:
    """The checkpoints of a local folder's files; one with its own subfolder is opened there."""
    with closing(LocalPlace(root, targets.listed_files(listed))) as place:
        found = targets.shares(place, listed)
    for share in found:
        folder = root / share.start if share.start else root
        with closing(LocalPlace(folder, targets.listed_files(share.beside))) as inner:
            target = _target(unit, share.name)
            yield Subject(
                inner, share.beside, target, str(folder), unit.cache_name, share.members, is_model=share.is_model
            )


def _remote(unit: Unit, place: Place, listed: list[Entry]) -> Iterator[Subject]:
    """The same of a folder in an object store, or of a repository."""
    for share in targets.shares(place, listed):
        below = Below(place, share.start, targets.listed_files(share.beside))
        yield Subject(below, share.beside, _target(unit, share.name), members=share.members, is_model=share.is_model)


def _target(unit: Unit, path: str) -> str:
    return f"{unit.target.rstrip('/')}/{path}" if path else unit.target
