"""The models at a target of an audit, each as a `Subject`.

A target is a file, a folder with a model, a folder of such folders, or anything else that `sources.targets` finds:
a name that is not a local path and looks like a Hub id is requested from the Hub. `opening.models` says which
checkpoints are in a folder; files that belong to none of them are audited with the nearest one above, or by themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from inspector.auditing import limits
from inspector.auditing.stores import ollama_model, ollama_models
from inspector.auditing.subject import Subject
from inspector.errors import InspectorError, TargetError
from inspector.opening.models import Found, checkpoints_in
from inspector.opening.named import ollama_store
from inspector.opening.selection import models_here
from inspector.sources import Place
from inspector.sources.filenames import COLLECTIVE, INDEX, shard_of
from inspector.sources.listing import Entry, entries, entries_of
from inspector.sources.local import LocalPlace
from inspector.sources.places import Below
from inspector.sources.targets import place_of
from inspector.units import escape

#: What the shards of one set have in common.
_LIKE = attrgetter("stem", "total", "suffix")
#: The folder of a repository in the Hub's cache whose links lead out of it.
_SNAPSHOTS = "snapshots"


@dataclass(frozen=True, slots=True)
class Failed:
    """A target with nothing to audit, or nothing readable."""

    target: str
    reason: InspectorError
    examined: bool = False  # whether it has no weights, and what it has instead was audited


def subjects(target: str, revision: str | None = None, *, alone: bool = False) -> Iterator[Subject | Failed]:
    """Every model at a target; each is closed when the next is requested. A shard selects its set, unless `alone`.

    Raises:
        TargetError: there is no model.
    """
    path = local_path(target)
    if path is not None and path.is_dir():
        store = ollama_store(path)
        yield from ollama_models(store) if store else in_folder(path, target)
        return
    with closing(place_of(str(path or target), revision)) as place:
        if own := ollama_model(place, target):
            yield own
        elif isinstance(place, LocalPlace) and place.selected is None:  # a repository in the Hub's cache
            yield from in_folder(place.root, target, target)
        elif place.selected is None and not isinstance(place, LocalPlace):
            yield from _in_listing(place, target)
        else:
            root = str(place.root) if isinstance(place, LocalPlace) else None
            listed = [*entries(Path(root), recursive=False)] if root else entries_of(place)
            yield Subject(place, listed, target, root, members=_set_of(place, listed, alone=alone))


def _in_listing(place: Place, target: str) -> Iterator[Subject | Failed]:
    """The models in a repository or a folder of an object store: split like a local folder, with a single listing."""
    found = shares(place, entries_of(place))
    for share in found:
        model = Below(place, share.start, listed_files(share.beside))
        own = f"{_typed(target)}/{share.name}" if share.name else target.rstrip("/")
        yield Subject(model, share.beside, own, members=share.members, is_model=share.is_model)
    yield from _without_weights(found, target)


def _typed(target: str) -> str:
    """What names below a target begin with: of a page of the Hub, another form of its URL."""
    if not target.startswith(("https://", "http://")):
        return target.rstrip("/")
    from inspector.sources.hub import parse  # only for the Hub's targets

    name = parse(target)
    kind = "" if name.kind == "model" else f"{name.kind}s/"
    return f"hf://{kind}{name.repo}{f'@{name.revision}' if name.revision else ''}/{name.path}".rstrip("/")


def _without_weights(found: Sequence[Share], target: str) -> Iterator[Failed]:
    """What is reported of a folder without weights, besides what its files show."""
    if not any(share.is_model for share in found):
        what = f"{escape(target)} has no weight files, intact or damaged, in any folder"
        yield Failed(target, TargetError(what + models_here()), examined=bool(found))


def _set_of(place: Place, listed: Sequence[Entry], *, alone: bool) -> frozenset[str] | None:
    """The shards of the named shard's set, and their index; None if no shard is named, or only that one is meant.

    A URL is one file; others next to it cannot be listed.
    """
    own = shard_of(place.selected or "")
    if own is None or own.total < 2 or alone:
        return None
    if not isinstance(place, LocalPlace):
        from inspector.sources.remote import UrlPlace  # imports the network's libraries

        if isinstance(place, UrlPlace):
            return None
    others = ((entry.path, shard_of(entry.path)) for entry in listed)
    alike = {path for path, each in others if each and _LIKE(each) == _LIKE(own)}
    return frozenset({*alike, *({own.stem + INDEX} & {entry.path for entry in listed})})


def local_path(target: str) -> Path | None:
    """The local file or folder that a target names; None if there is none.

    A link to a file elsewhere represents that file, because the user named it. The Hub cache's links are read in place.
    """
    try:
        path = Path(target).expanduser()
        if not path.exists():
            return None
        leads_out = path.is_symlink() and path.is_file() and _SNAPSHOTS not in path.absolute().parts
        return path.resolve() if leads_out else path
    except (OSError, ValueError, RuntimeError):  # too long for a path, or of an unknown user
        return None


def in_folder(
    root: Path, target: str, cache_name: str | None = None, *, required: bool = True
) -> Iterator[Subject | Failed]:
    """The models in a local folder.

    Args:
        cache_name: `org/name`, if it is a snapshot in the Hub's cache.
        required: whether it is reported if there is none.
    """
    listed = list(entries(root))
    with closing(LocalPlace(root, listed_files(listed))) as place:
        found = shares(place, listed)
    for share in found:
        own = str(Path(target, share.name))
        folder = root / share.start if share.start else root
        try:
            inner = LocalPlace(folder, listed_files(share.beside))
        except InspectorError as error:  # deleted while others were audited
            yield Failed(own, error)
            continue
        with closing(inner):
            yield Subject(
                inner, share.beside, own, str(folder).rstrip("/"), cache_name, share.members, is_model=share.is_model
            )
    if required:
        yield from _without_weights(found, target)


class Share(NamedTuple):
    """The files of one checkpoint of a folder. Each listed file is examined with exactly one."""

    name: str  # what to type for it within the folder; "" for the folder itself
    start: str  # the folder that its paths begin in, "" or ending in "/"
    beside: Sequence[Entry]  # what it may read, with paths from there
    members: frozenset[str] | None  # what is examined of it; None for everything
    is_model: bool = True  # False for files that belong to no checkpoint


def shares(place: Place, listed: Sequence[Entry]) -> list[Share]:
    """The checkpoints of a folder, as `opening.models` defines them, with the files that are examined with each.

    A file belongs to the checkpoint whose folder is the nearest above it. Files above all of them are a share of their
    own, which is no model.
    """
    by_path = {entry.path: entry for entry in listed}

    def may_read(path: str) -> bool:
        entry = by_path.get(path)
        if entry is None or entry.kind != "file" or entry.outside:
            return False
        return limits.excess(path, entry.size, lambda path, length: _start(place, path, length)) is None

    found = checkpoints_in(place, may_read)
    weights = {path: at for at, each in enumerate(found) for path in _files_of(each)}
    first: dict[str, int] = {}
    for at, each in enumerate(found):
        first.setdefault(each.home, at)
    owned: defaultdict[int, list[Entry]] = defaultdict(list)
    nearest = cache(lambda folder: _nearest(folder, first))
    for entry in listed:
        owner = weights.get(entry.path)
        owned[nearest(entry.folder) if owner is None else owner].append(entry)
    result = []
    for at, each in enumerate(found):
        start = f"{each.home}/" if each.home else ""
        mine = owned[at]
        if any(not entry.path.startswith(start) for entry in mine):
            start = ""
        if each.name == each.home:
            result.append(Share(each.name, start, [_within(entry, start) for entry in mine], None))
            continue
        beside = [_within(entry, start) for entry in listed if entry.path.startswith(start)]
        members = frozenset(entry.path[len(start) :] for entry in mine)
        result.append(Share(each.name, start, beside, members))
    if rest := owned[-1]:
        result.append(Share("", "", rest, None, is_model=False))
    return result


def _start(place: Place, path: str, length: int) -> bytes:
    try:
        with closing(place.open(path)) as source:
            return source.read(0, min(length, source.size))
    except InspectorError:
        return b""


def _files_of(found: Found) -> Iterator[str]:
    """A checkpoint's weight files, and the copies of them."""
    yield from found.paths
    for copy in found.copies:
        yield from copy.files


def _nearest(folder: str, first: Mapping[str, int]) -> int:
    """The first checkpoint of the nearest folder above; -1 if there is none."""
    folder = folder.rstrip("/")
    while folder and folder not in first:
        folder = folder.rpartition("/")[0]
    return first.get(folder, -1)


def _within(entry: Entry, start: str) -> Entry:
    return replace(entry, path=entry.path[len(start) :]) if start else entry


def listed_files(entries: Sequence[Entry]) -> dict[str, int]:
    """Files by path as a place lists them: without hidden ones, links to folders and dangling links."""
    names = ((entry, "/" + entry.path.removesuffix(COLLECTIVE)) for entry in entries)
    listed = (entry for entry, name in names if not entry.broken and entry.refused is None and "/." not in name)
    return {entry.path: entry.size for entry in listed}
