"""A unit → the rows of its checkpoints. A failure of one is a row, and does not affect the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from inspector.auditing import targets
from inspector.auditing.examination import examined
from inspector.auditing.subject import Subject
from inspector.errors import InspectorError, NetworkError
from inspector.scanning.rows import Rows
from inspector.scanning.splitting import Share, shares
from inspector.scanning.unit import Unit
from inspector.sources.listing import Entry, entries, entries_named, entries_of
from inspector.sources.local import LocalPlace
from inspector.sources.ollama import PREFIX
from inspector.sources.places import Kept
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
                rows.add(unit, found.target, found, examined(found, own_process=True))
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
        yield from _shared_out(unit, root, list(entries(root)))
    elif unit.kind == "files":
        root = Path(unit.where)
        listed = list(entries_named(root, (path for path, _ in unit.files)))
        with closing(LocalPlace(root, targets.listed_files(listed))) as place:
            yield Subject(place, listed, unit.target, unit.where, members=frozenset(place.files))
    elif unit.kind == "store":
        from inspector.sources.filesystem import FilesystemPlace  # imports fsspec

        listed = [Entry(path, "file", size) for path, size in unit.files]
        with closing(Kept(FilesystemPlace(unit.where, targets.listed_files(listed)))) as remote:
            for share in shares(remote, [each.path for each in listed]):
                yield Subject(remote, listed, _target(unit, share.first), members=share.files)
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
        split = shares(place, list(place.files)) if place.selected is None else [Share("", None)]
        kept = Kept(place)
        for share in split:
            yield Subject(kept, listed, _target(unit, share.first), members=share.files)


def _shared_out(unit: Unit, root: Path, listed: list[Entry]) -> Iterator[Subject]:
    """The checkpoints of a local folder; one with its own subfolder is opened there."""
    with closing(LocalPlace(root, targets.listed_files(listed))) as place:
        for share in shares(place, [each.path for each in listed]):
            folder = share.first.rpartition("/")[0]
            own = [each for each in listed if each.path.startswith(f"{folder}/")] if folder else []
            if share.files is not None and own and {each.path for each in own} == share.files:
                inner = [replace(each, path=each.path[len(folder) + 1 :]) for each in own]
                with closing(LocalPlace(root / folder, targets.listed_files(inner))) as below:
                    yield Subject(below, inner, _target(unit, folder), str(root / folder), unit.cache_name)
            else:
                target = _target(unit, share.first)
                yield Subject(place, listed, target, str(root), unit.cache_name, share.files)


def _target(unit: Unit, path: str) -> str:
    return f"{unit.target.rstrip('/')}/{path}" if path else unit.target
