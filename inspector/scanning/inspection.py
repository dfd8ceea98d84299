"""A unit → the rows of its checkpoints. A failure of one is a row, and does not affect the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from inspector.auditing import targets
from inspector.auditing.examination import examined
from inspector.auditing.subject import Subject
from inspector.errors import InspectorError, NetworkError
from inspector.model import Variant
from inspector.opening import selection
from inspector.opening.models import grouped
from inspector.opening.variants import variants
from inspector.scanning.rows import Rows
from inspector.scanning.unit import Unit
from inspector.sources import Place
from inspector.sources.filenames import PICKLED, WEIGHTS
from inspector.sources.listing import Entry, entries, entries_named, entries_of
from inspector.sources.local import LocalPlace
from inspector.sources.ollama import PREFIX
from inspector.sources.places import Kept, Narrowed
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


# --- a folder's checkpoints -----------------------------------------------------------------------
# Each file is in exactly one: what `inspect FOLDER` takes, and what it leaves. Unrelated models are split as
# `inspector.models` does. Within one, files that are not part of it (e.g. each further GGUF) are separate checkpoints;
# a pipeline's parts are one.

#: Files that make everything next to and below them one model.
_COMPOSITE = ("model_index.json", "modules.json")


class Share(NamedTuple):
    """One checkpoint's files."""

    first: str  # its first weight file; "" for the whole place
    files: frozenset[str] | None  # None: the whole place


def shares(place: Place, paths: Collection[str]) -> list[Share]:
    """The checkpoints of a folder, with all its files assigned, including hidden ones in `paths`."""
    everything = [Share("", None)]
    if any(name in place.files for name in _COMPOSITE) or len(variants(place.files, (*WEIGHTS, *PICKLED))) < 2:
        return everything
    taken = [part for group in grouped(place).values() for part in _parts(place, group)]
    if len(taken) < 2:
        return everything
    own: dict[str, set[str]] = {part[0]: set(part) for part in taken}
    claimed = {path for part in taken for path in part}
    for path in paths:
        if path not in claimed:
            own[_nearest(path, [part[0] for part in taken])].add(path)
    return [Share(first, frozenset(files)) for first, files in own.items()]


def _parts(place: Place, group: Sequence[Variant]) -> list[tuple[str, ...]]:
    """The weight files of the variant that a loader prefers, followed by each other variant's."""
    folders = {each.paths[0].rpartition("/")[0] for each in group}
    if any(f"{folder}/{name}".lstrip("/") in place.files for folder in _above(folders) for name in _COMPOSITE):
        return [tuple(path for each in group for path in each.paths)]
    own = {path for each in group for path in each.paths}
    alone = Narrowed(place, lambda path: path in own or not path.endswith((*WEIGHTS, *PICKLED)), selected=False)
    try:
        main = selection.select(alone, None).paths
    except InspectorError:
        main = group[0].paths
    others = [each.paths for each in group if set(main).isdisjoint(each.paths)]
    return [tuple(path for path in main if path in own) or group[0].paths, *others]


def _above(folders: Collection[str]) -> set[str]:
    """Folders and all their parents."""
    return {folder[: at or 0] for folder in folders for at in (len(folder), *_slashes(folder))}


def _slashes(text: str) -> list[int]:
    return [at for at, letter in enumerate(text) if letter == "/"]


def _nearest(path: str, firsts: Sequence[str]) -> str:
    """The checkpoint that a file belongs to: the first of those whose folder is the nearest above it."""
    folder = path.rpartition("/")[0]
    return max(firsts, key=lambda first: _shared(first.rpartition("/")[0], folder))


def _shared(home: str, folder: str) -> int:
    """How close a folder is to one above it; lowest for one that is not above it."""
    above = not home or folder == home or folder.startswith(f"{home}/")
    return len(home) if above else -1
