"""Trees in object stores through fsspec, and organisations on the Hub, listed page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspector.errors import NetworkError, TargetError
from inspector.scanning.trees import Node
from inspector.scanning.unit import Unit
from inspector.sources import workers
from inspector.sources.answers import RefusedError, status_of
from inspector.sources.filesystem import open_url
from inspector.sources.http import Wire
from inspector.sources.hub_api import repositories
from inspector.units import escape
from inspector.version import __version__

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
            self._fs.invalidate_cache()  # it would cache all listings
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
    from huggingface_hub import constants
    from huggingface_hub.utils import build_hf_headers

    headers = build_hf_headers(library_name="checkpoint-inspector", library_version=__version__)
    wire = Wire(constants.ENDPOINT, headers)
    try:
        number = 0
        for repo, commit in repositories(wire, constants.ENDPOINT, name):
            number += 1
            target = f"hf://{repo}@{commit}" if commit else f"hf://{repo}"
            yield Unit("target", target, f"hf://{repo}", root, commit)
    except RefusedError as refused:
        raise NetworkError(f"{constants.ENDPOINT}: {status_of(refused.response)}") from refused
    finally:
        wire.close()
    if not number:
        raise TargetError(f"{constants.ENDPOINT} has no repositories of {escape(name, 100)}")
