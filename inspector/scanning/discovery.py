"""ROOT… → units, as they are found: folders, object stores, organisations and lists, one after another.

/models  ~/.cache/huggingface/hub     a tree on this machine; programs' stores are recognised
s3://bucket/models  gs://…            a tree of an object store
hf://org                              all of an organisation's repositories
hf://org/name  org/name  ollama:x     any target of `inspect audit`
@targets.txt                          a file with any of these, one per line
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from inspector.errors import InspectorError, NetworkError, TargetError
from inspector.scanning.trees import (
    Listed,
    LocalTree,
    Node,
    Patience,
    PatientTree,
    Tree,
    set_of,
    units,
    unlisted,
    whole,
)
from inspector.scanning.unit import Unit, stamp_of
from inspector.sources import ollama, workers
from inspector.sources.targets import is_path
from inspector.units import escape
from inspector.version import __version__

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
        yield from _unit_of_name(root)
    elif root.startswith(("http://", "https://")):
        yield Unit("target", root, root, root)
    else:
        store: StoreTree = patience.call(lambda: StoreTree(root))
        yield from units(PatientTree(store, patience), root, store.top, lambda _folder, _nodes: None)


def _unit_of_name(root: str) -> Iterator[Unit]:
    """A unit named on the Hub, or in Ollama's store."""
    if root.startswith(ollama.PREFIX):
        with closing(ollama.ollama_place(root.removeprefix(ollama.PREFIX).removeprefix("//"))) as place:
            yield _of_ollama(place, root, root)
        return
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


# --- object stores, and organisations on the Hub -------------------------------------------------

#: File systems' names for a property that changes with a file's content, the most reliable first.
_VERSIONS = (
    "ETag",
    "etag",
    "md5Hash",
    "content_md5",
    "generation",
    "LastModified",
    "last_modified",
    "mtime",
    "created",
)


class StoreTree:
    """Folders on one of fsspec's file systems."""

    kind = "store"

    def __init__(self, url: str) -> None:
        """Raises UsageError if fsspec does not know the scheme, or lacks the package for it."""
        from inspector.sources.filesystem import open_url  # for object stores alone

        self._fs, path = open_url(url)
        self._server = url.partition("://")[0]
        self.top = str(self._fs.unstrip_protocol(path.rstrip("/")))
        if not self._fs.exists(path):
            raise TargetError(f"{escape(url, 300)}: no such folder")

    def list(self, folder: str) -> Sequence[Node]:
        path = self._fs._strip_protocol(folder)
        workers.wait_for_turn(self._server)
        try:
            found: list[dict[str, Any]] = self._fs.ls(path, detail=True)
        except FileNotFoundError:
            return ()
        finally:
            self._fs.invalidate_cache()  # fsspec would cache all listings
        nodes = (_node(each, path) for each in found)
        return sorted((node for node in nodes if node.name), key=lambda node: node.name)

    def join(self, folder: str, name: str) -> str:
        return f"{folder.rstrip('/')}/{name}"


def _node(entry: dict[str, Any], folder: str) -> Node:
    name = str(entry["name"]).rstrip("/")
    name = "" if name.strip("/") == folder.strip("/") else name.rsplit("/", 1)[-1]  # the folder's own marker
    version = next((str(entry[key]) for key in _VERSIONS if entry.get(key)), "")
    size = entry.get("size")
    return Node(name, entry.get("type") == "directory", size if isinstance(size, int) else 0, version)


def organisation(name: str, root: str) -> Iterator[Unit]:
    """The model repositories of an organisation or user, each at its latest commit.

    Raises:
        TargetError: there is none with that name.
        NetworkError: the Hub does not answer.
    """
    from inspector.sources.answers import RefusedError, status_of
    from inspector.sources.http import Wire
    from inspector.sources.hub import endpoint
    from inspector.sources.hub_api import repositories

    home = endpoint()
    from huggingface_hub.utils import build_hf_headers  # once it is known that its import does not fail

    headers = build_hf_headers(library_name="checkpoint-inspector", library_version=__version__)
    wire = Wire(home, headers)
    try:
        number = 0
        for repo, commit in repositories(wire, home, name):
            number += 1
            target = f"hf://{repo}@{commit}" if commit else f"hf://{repo}"
            yield Unit("target", target, f"hf://{repo}", root, commit)
    except RefusedError as refused:
        raise NetworkError(f"{home}: {status_of(refused.response)}") from refused
    finally:
        wire.close()
    if not number:
        raise TargetError(f"{home} has no repositories of {escape(name, 100)}")
