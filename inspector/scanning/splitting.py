"""A folder → its checkpoints, each file in exactly one: what `inspect FOLDER` takes, and what it leaves.

Unrelated models are split as `inspector.models` does. Within one, files that are not part of it (e.g. each further
GGUF) are separate checkpoints; a pipeline's parts are one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from inspector.errors import InspectorError
from inspector.model import Variant
from inspector.opening import selection
from inspector.opening.models import grouped
from inspector.opening.variants import variants
from inspector.sources import Place
from inspector.sources.filenames import PICKLED, WEIGHTS
from inspector.sources.places import Narrowed

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
