"""ROOT… → units, as they are found: folders, object stores, organisations and lists, one after another.

/models ~/.cache/huggingface/hub a tree on this machine; programs' stores are recognised s3://bucket/models gs://… a
tree of an object store
hf://org                              all of an organisation's repositories
hf://org/name  org/name  ollama:x     any target of `inspect audit`
@targets.txt                          a file with any of these, one per line
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from inspector.errors import InspectorError, TargetError
from inspector.scanning.patience import Patience, PatientTree
from inspector.scanning.trees import Listed, LocalTree, Node, Tree, set_of, units, unlisted, whole
from inspector.scanning.unit import Unit, stamp_of
from inspector.sources import ollama
from inspector.sources.targets import is_path
from inspector.units import escape

#: The time limit of one listing in seconds.
PATIENCE = 120.0
#: The most bytes of a line in a file of targets.
LONGEST_LINE = 4096


def discover(roots: Iterable[str], seconds: float = PATIENCE) -> Iterator[Unit]:
    """The units at each root; an unreadable root is a unit with its error.

    Args:
        seconds: the time limit of one folder's listing; one that takes longer is such a unit too.
    """
    patience = Patience(seconds)
    try:
        for root in roots:
            try:
                if root.startswith("@") and not Path(root).exists():
                    yield from (unit._replace(root=root) for unit in discover(lines(root[1:]), seconds))
                else:
                    yield from _at(root, patience)
            except (InspectorError, OSError, ValueError, RuntimeError) as error:
                yield unlisted(root, root, error)
    finally:
        patience.end()


def lines(path: str) -> Iterator[str]:
    """The targets in a file, one per line, without empty lines and those that begin with #.

    Raises:
        TargetError: the file cannot be read.
    """
    try:
        with Path(path).expanduser().open(encoding="utf-8", errors="surrogateescape") as file:
            while line := file.readline(LONGEST_LINE):
                if (target := line.strip()) and not target.startswith(("#", "@")):
                    yield target
    except OSError as error:
        raise TargetError(f"{escape(path)}: {error.strerror or error}") from error


def _at(root: str, patience: Patience) -> Iterator[Unit]:
    path = Path(root).expanduser()
    if patience.call(path.is_dir):
        tree: Tree = PatientTree(LocalTree(), patience)
        yield from units(tree, root, os.path.abspath(path), _stores(root))  # noqa: PTH100  links stay as they are
    elif path.exists():
        yield _file(root, path)
    elif "://" not in root and not root.startswith(ollama.PREFIX) and is_path(root):
        raise TargetError(f"{escape(root)}: no such file or folder")
    elif root.startswith("hf://") or "://" not in root:
        yield from _named(root)
    elif root.startswith(("http://", "https://")):
        yield Unit("target", root, root, root)
    else:
        from inspector.scanning.remote import StoreTree  # imports fsspec

        store: StoreTree = patience.call(lambda: StoreTree(root))
        yield from units(PatientTree(store, patience), root, store.top, lambda _folder, _nodes: None)


def _named(root: str) -> Iterator[Unit]:
    """A unit named on the Hub, or in Ollama's store."""
    if root.startswith(ollama.PREFIX):
        with closing(ollama.ollama_place(root.removeprefix(ollama.PREFIX).removeprefix("//"))) as place:
            yield _of_ollama(place, root, root)
        return
    from inspector.scanning.remote import organisation  # imports the Hub's client

    name = root.removeprefix("hf://").strip("/")
    if root.startswith("hf://") and "/" not in name and "@" not in name:
        yield from organisation(name, root)
    else:
        yield Unit("target", root, root, root)


def _file(root: str, path: Path) -> Unit:
    """A single file, with the other shards of its set."""
    folder = path.absolute().parent
    beside = [
        Listed(each.name, each.size, each.version) for each in LocalTree().list(str(folder)) if not each.is_folder
    ]
    return Unit("target", str(path), str(path), root, stamp_of(set_of(beside, path.name)))


def _stores(root: str) -> Callable[[str, Sequence[Node]], Iterator[Unit] | None]:
    """Recognises the folders of programs that store models in their own layout."""

    def special(folder: str, nodes: Sequence[Node]) -> Iterator[Unit] | None:
        inner = {node.name for node in nodes if node.is_folder}
        if {"manifests", "blobs"} <= inner:
            return _ollamas(Path(folder), root)
        if "snapshots" in inner and os.path.basename(folder).startswith("models--"):  # noqa: PTH119  as above
            return _snapshots(folder, root)
        return None

    return special


def _ollamas(store: Path, root: str) -> Iterator[Unit]:
    for name, manifest in ollama.models(store):
        try:
            with closing(ollama.OllamaPlace(store, manifest)) as place:
                yield _of_ollama(place, str(manifest), root)
        except InspectorError as error:
            yield unlisted(str(manifest), root, error)._replace(where=name)


def _of_ollama(place: ollama.OllamaPlace, target: str, root: str) -> Unit:
    files = []
    for layer in place.layers:
        version = "absent"
        with suppress(InspectorError, OSError):
            version = str(place.path_of(layer.name).stat().st_mtime_ns)
        files.append(Listed(f"{layer.name} {layer.digest}", place.files.get(layer.name, 0), version))
    return Unit("target", str(place.manifest), target, root, stamp_of(files))


def _snapshots(folder: str, root: str) -> Iterator[Unit]:
    """Each snapshot of a repository in the Hub's cache."""
    repository = os.path.basename(folder).removeprefix("models--").replace("--", "/")  # noqa: PTH119  as above
    tree = LocalTree()
    for snapshot in tree.list(f"{folder}/snapshots"):
        if snapshot.is_folder:
            where = f"{folder}/snapshots/{snapshot.name}"
            if unit := whole(tree, where, root):
                yield unit._replace(cache_name=repository)
