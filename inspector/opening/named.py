"""The models of a folder by name: what to type for each, and the result of each.

Which checkpoints a folder has is defined in `models`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import InspectorError
from inspector.model import Reconciliation
from inspector.opening.models import Found, checkpoints_in, is_one
from inspector.sources import Place
from inspector.sources.targets import in_filesystem
from inspector.tabular import NamedTuple, Tabular
from inspector.units import plural

if TYPE_CHECKING:
    from inspector.sources.local import LocalPlace

_SNAPSHOT = re.compile(r"models--(?P<name>[^/]+)/snapshots/(?P<commit>[0-9a-f]{40})(?P<inner>/.*|$)")


class Named(NamedTuple):
    """One model of a folder."""

    name: str  # what to type for it within the folder
    target: str  # the target that opens it alone
    foreign: str | None = None  # the name of its format, if it is one that is not read
    size: int = 0  # bytes of its weight files


class Models(Tabular, tuple[tuple[Named, Reconciliation | InspectorError], ...]):
    """Each model of a folder with its result, or with the error that reading it raised."""

    __slots__ = ()

    def __repr__(self) -> str:
        read = sum(isinstance(each, Reconciliation) for _, each in self)
        return f"<Models: {plural(len(self), 'model')}, {read} read>"


def models_at(target: str | Path) -> tuple[Named, ...]:
    """The checkpoints in a folder, by name; empty if it holds one, or is not a folder.

    Raises:
        SourceError, TargetError, NetworkError: the folder cannot be listed.
    """
    return _at(target, lambda found: len(found) > 1)


def unrelated_at(target: str | Path) -> tuple[Named, ...]:
    """The same, but empty if the folder is one model's, of which others are steps or quantizations."""
    return _at(target, lambda found: not is_one(found))


def _at(target: str | Path, are_several: Callable[[Sequence[Found]], bool]) -> tuple[Named, ...]:
    if isinstance(target, str) and in_filesystem(target):
        from inspector.sources.filesystem import FilesystemPlace  # imports fsspec

        place = FilesystemPlace(target)
        found = checkpoints_in(place) if place.selected is None else ()
        typed = f"{target.rstrip('/')}/"
        rows = by_name(found, are_several)
        return tuple(_with_size(place, each, (typed + each.name).rstrip("/")) for each in rows)
    path = Path(target).expanduser()
    if not path.is_dir():
        return ()
    if store := ollama_store(path):
        from inspector.sources import ollama  # only for its store

        return tuple(Named(name, str(manifest)) for name, manifest in ollama.models(store))
    from inspector.sources.local import LocalPlace  # only one kind of place is imported

    with closing(LocalPlace(path)) as local:
        found = local_checkpoints(local)
        return tuple(_with_size(local, each, str(path / each.name)) for each in by_name(found, are_several))


def ollama_store(folder: Path) -> Path | None:
    """Ollama's store, if a folder is one, a part of one, or its home; else None."""
    if not any((folder / each).is_dir() for each in ("manifests", "models/manifests")) and folder.name != "blobs":
        return None
    from inspector.sources.ollama import store_at  # only for its store

    return store_at(folder)


def _in_store(store: Path, root: Path) -> Iterator[Found]:
    """The models of Ollama's store, under their manifests' paths, with their blobs."""
    from inspector.sources import ollama

    for _, manifest in ollama.models(store):
        with suppress(InspectorError), closing(ollama.OllamaPlace(store, manifest)) as place:
            name = manifest.relative_to(root).as_posix()
            paths = (Path(place.full(path)).relative_to(root).as_posix() for path in place.files)
            yield Found(name, name, tuple(paths))


def by_name(found: Sequence[Found], are_several: Callable[[Sequence[Found]], bool]) -> list[Found]:
    """Checkpoints in the order in which they are listed; none if they are not several."""
    return sorted(found, key=lambda each: natural(each.name)) if are_several(found) else []


def _with_size(place: Place, found: Found, target: str) -> Named:
    size = sum(place.files.get(path, 0) for path in found.paths)
    return Named(shown(found) or ".", target, found.foreign, size)


def shown(found: Found) -> str:
    """A checkpoint's name; in the Hub's cache, the repository's."""
    there = _SNAPSHOT.fullmatch(found.name) or _SNAPSHOT.fullmatch(found.name.partition("/")[2])
    return f"{there['name'].replace('--', '/')}@{there['commit'][:12]}{there['inner']}" if there else found.name


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """Sorts numbers by value: checkpoint-500 before checkpoint-1000."""
    return tuple((int(part), "") if part.isdecimal() else (0, part.lower()) for part in re.split(r"(\d{1,12})", text))


#: Folder → its checkpoints, while a folder is asked for them several times.
_SEARCHES: ContextVar[dict[Path, tuple[Found, ...]] | None] = ContextVar("searches", default=None)


@contextmanager
def searched_once() -> Iterator[None]:
    """Inside the context a folder on this machine is searched for checkpoints once."""
    token = _SEARCHES.set({})
    try:
        yield
    finally:
        _SEARCHES.reset(token)


def local_checkpoints(place: LocalPlace) -> tuple[Found, ...]:
    """Every checkpoint of a folder on this machine; see `searched_once`."""
    if (store := ollama_store(place.root)) and store.is_relative_to(place.root):
        return tuple(_in_store(store, place.root))
    known = _SEARCHES.get()
    if known is None:
        return checkpoints_in(place)
    if place.path not in known:
        known[place.path] = checkpoints_in(place)
    return known[place.path]
