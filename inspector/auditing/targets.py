"""The models at a target of an audit, each as a `Subject`.

A target is a file, a folder with a model, a folder of such folders, or anything else that `sources.targets` finds:
a name that is not a local path and looks like a Hub id is requested from the Hub. A folder with weight files directly
in it is a model; files below it that belong to no other model are audited with it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from inspector.auditing import stores
from inspector.auditing.subject import Subject
from inspector.errors import InspectorError, TargetError
from inspector.opening.index import MAX_INDEX
from inspector.sources import Place
from inspector.sources.filenames import COLLECTIVE, INDEX, WEIGHTS, shard_of
from inspector.sources.listing import Entry, entries, entries_of
from inspector.sources.local import LocalPlace
from inspector.sources.places import Below
from inspector.sources.targets import in_filesystem, place_of
from inspector.units import escape

#: Suffixes of files that make a folder a model's, complete or not: weights in any format that loaders accept, and the
#: files that they read first.
_MARKS = (
    *WEIGHTS,
    ".index.json",
    *(".bin", ".pt", ".pth", ".pt2", ".ckpt", ".distcp", ".pkl", ".pickle", ".joblib"),
    *(".npz", ".msgpack", ".mar", ".nemo"),
    *(".keras", ".h5", ".hdf5", ".onnx", "saved_model.pb", ".tflite", ".mlmodel", ".llamafile"),
    *("adapter_config.json", "model_index.json", "modules.json"),
)
#: Suffixes of weights that are still being downloaded, or were numbered: `model.safetensors.tmp`.
_UNFINISHED = re.compile(rf"(?:{'|'.join(map(re.escape, WEIGHTS))})[.-]\w+$", re.IGNORECASE)
#: What the shards of one set have in common.
_LIKE = attrgetter("stem", "total", "suffix")
#: The folder of a repository in the Hub's cache whose links lead out of it.
_SNAPSHOTS = "snapshots"


@dataclass(frozen=True, slots=True)
class Failed:
    """A target with nothing to audit, or nothing readable."""

    target: str
    reason: InspectorError


def subjects(target: str, revision: str | None = None, *, alone: bool = False) -> Iterator[Subject | Failed]:
    """Every model at a target; each is closed when the next is requested. A shard selects its set, unless `alone`.

    Raises:
        TargetError: there is no model.
    """
    path = local_path(target)
    if path is not None and path.is_dir():
        store = stores.ollama_store(path)
        yield from stores.ollama_models(store) if store else in_folder(path, target)
        return
    with closing(place_of(str(path or target), revision)) as place:
        if own := stores.ollama_model(place, target):
            yield own
        elif isinstance(place, LocalPlace) and place.selected is None:  # a repository in the Hub's cache
            yield from in_folder(place.root, target, target)
        elif place.selected is None and in_filesystem(target):
            yield from _in_object_store(place, target)
        else:
            root = str(place.root) if isinstance(place, LocalPlace) else None
            listed = [*entries(Path(root), recursive=False)] if root else entries_of(place)
            yield Subject(place, listed, target, root, members=_set_of(place, listed, alone=alone))


def _in_object_store(place: Place, target: str) -> Iterator[Subject]:
    """The models in a folder of an object store: split like a local folder, with a single listing."""
    models = _models(lambda path: place.read_bytes(path, MAX_INDEX), entries_of(place), {""})
    for folder, inner in sorted(models.items()):
        if folder or len(models) == 1 or any(marks_a_model(entry.name) for entry in inner):
            model = Below(place, folder, {entry.path: entry.size for entry in inner})
            yield Subject(model, inner, f"{target.rstrip('/')}/{folder}".rstrip("/"))


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
        required: whether there has to be one; otherwise the folder itself is audited if none is found.

    Raises:
        TargetError: a model is required, and there is none.
    """
    listed = list(entries(root))
    models = _models(lambda path: (root / path).read_bytes(), listed, {""} if not required else set())
    if not models:
        raise TargetError(f"{escape(target)} has no weight files, intact or damaged, in any folder")
    for folder, inner in sorted(models.items()):
        own = str(Path(target, folder))
        try:
            place = LocalPlace(root / folder, listed_files(inner))
        except InspectorError as error:  # deleted while others were audited
            yield Failed(own, error)
            continue
        with closing(place):
            yield Subject(place, inner, own, str(root / folder), cache_name)


def _models(read: Callable[[str], bytes], listed: Sequence[Entry], marked: set[str]) -> dict[str, list[Entry]]:
    """Folder → its files and those below it that belong to no other model, with their paths in it.

    `read` returns a listed file's bytes. Files above all models, or in folders without any, belong to the root.
    """
    marked |= {entry.folder for entry in listed if marks_a_model(entry.name) and not _hidden(entry.folder)}
    marked -= _indexed(read, listed, marked)
    if not marked:
        return {}
    models: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in listed:
        home = _home(entry.folder, marked)
        models[home].append(replace(entry, path=entry.path[len(home) :]) if home else entry)
    return models


def marks_a_model(name: str) -> bool:
    """Whether a file of this name marks its folder as a model, complete or partial."""
    return name.lower().endswith(_MARKS) or _UNFINISHED.search(name) is not None


#: A file in a folder, in an index's map. The map is not parsed, because it rarely names any.
_IN_FOLDER = re.compile(rb':\s*"([^"\\/.][^"\\]*/)[^"\\/]+\.safetensors"')


def _indexed(read: Callable[[str], bytes], listed: Sequence[Entry], marked: set[str]) -> frozenset[str]:
    """Folders whose weights are shards of an index above them, so not separate models."""
    folders: set[str] = set()
    for entry in listed:
        readable = entry.name.endswith(INDEX) and entry.kind == "file" and not entry.outside
        below = readable and any(folder != entry.folder and folder.startswith(entry.folder) for folder in marked)
        if below and entry.size <= MAX_INDEX:
            try:
                raw = read(entry.path)
            except (OSError, InspectorError):
                continue
            folders |= {entry.folder + found[1].decode("utf-8", "replace") for found in _IN_FOLDER.finditer(raw)}
    return frozenset(folders)


def listed_files(entries: Sequence[Entry]) -> dict[str, int]:
    """Files by path as a place lists them: without hidden ones, links to folders and dangling links."""
    return {
        entry.path: entry.size
        for entry in entries
        if not entry.broken and entry.refused is None and not _hidden(entry.path.removesuffix(COLLECTIVE))
    }


def _hidden(folder: str) -> bool:
    return folder.startswith(".") or "/." in folder


def _home(folder: str, marked: set[str]) -> str:
    """The nearest marked folder at or above one; the root if there is none."""
    while folder and folder not in marked:
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
    return folder
