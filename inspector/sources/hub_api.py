"""The Hub's API for a repository: its files with their sizes, and the headers of all its shards at once."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

from inspector.errors import InspectorError, NetworkError
from inspector.sources.answers import RefusedError, shown_url
from inspector.sources.filenames import COLLECTIVE
from inspector.sources.http import Wire
from inspector.units import integer

_COMMIT = re.compile(r"[0-9a-f]{40}")
MAX_FILES = 200_000
MAX_LISTING = 24_000_000  # bytes; 200 a file is typical, and larger repositories are paginated
MAX_PAGES = 500  # of a tree; the Hub puts 1,000 files on a page
MAX_HEADERS = 32_000_000  # bytes, unpacked; DeepSeek-V3 has 10 MB
#: Objects and lists, and strings by their quotes: in Python each costs up to 200 bytes.
MAX_BRACKETS, MAX_QUOTES = 600_000, 2_500_000
#: Above this the Hub may leave files out of a repository's description (huggingface_hub uses the same threshold).
MANY_FILES = 50_000


@dataclass(frozen=True, slots=True)
class Repository:
    """Where one revision of a repository is."""

    endpoint: str
    kind: str  # "model", "dataset", "space"
    id: str  # "org/name", or "name" for the oldest
    revision: str | None  # as asked for; None for the default branch

    @property
    def api(self) -> str:
        return f"{self.endpoint}/api/{self.kind}s/{self.id}"

    @property
    def page(self) -> str:
        """Its page for people."""
        return f"{self.endpoint}/{'' if self.kind == 'model' else self.kind + 's/'}{self.id}"

    def file(self, path: str) -> str:
        """The address of a file's bytes."""
        return f"{self.page}/resolve/{quote(self.revision or 'main', safe='')}/{quote(path)}"


@dataclass(frozen=True, slots=True)
class Listing:
    """One commit's files."""

    id: str  # current name: the requested one may be a former name
    commit: str
    sizes: Mapping[str, int]  # path → bytes
    blobs: Mapping[str, str]  # path → the name of its content in the cache


def listing(wire: Wire, repository: Repository) -> Listing:
    """The files of a revision: one request, or more where the repository is huge or the server a mirror without sizes.

    Raises:
        RefusedError: the Hub refuses it.
        NetworkError: it is unavailable or invalid.
    """
    revision = f"/revision/{quote(repository.revision, safe='')}" if repository.revision else ""
    url = f"{repository.api}{revision}?blobs=true"
    body, _ = wire.get(url, MAX_LISTING, counted=False)
    described = _json(body, url)
    siblings = described.get("siblings") if isinstance(described, dict) else None
    commit = described.get("sha") if isinstance(described, dict) else None
    if not isinstance(siblings, list) or not isinstance(commit, str) or not commit.isascii():
        raise NetworkError(f"{shown_url(url)} does not respond like the Hub: is the endpoint right?")
    today = described.get("id")
    files = [_file(s, "rfilename") for s in siblings if isinstance(s, dict)]
    if len(files) >= MANY_FILES or any(size is None for _, size, _ in files):
        files = _tree(wire, repository, commit)
    return Listing(
        today if isinstance(today, str) and _is_id(today) else repository.id,
        commit,
        {path: size for path, size, _ in files if size is not None and _is_inside(path)},
        {path: blob for path, _, blob in files if blob},
    )


#: Bytes of a page of an organisation's repositories, and of such pages.
MAX_PAGE, MAX_REPOSITORY_PAGES = 8_000_000, 10_000


def repositories(wire: Wire, endpoint: str, author: str) -> Iterator[tuple[str, str | None]]:
    """Name and latest commit of each model repository of an organisation or a person, a page at a time.

    Raises:
        NetworkError: the response is not the Hub's.
        RefusedError: it refuses.
    """
    first = f"{endpoint}/api/models?author={quote(author, safe='')}&limit=1000&expand[]=sha"
    for page in _pages(wire, first, MAX_PAGE, MAX_REPOSITORY_PAGES, "does not end"):
        if not isinstance(page, list):
            raise NetworkError(f"{shown_url(first)} is not a list of repositories")
        for each in page:
            name, commit = (each.get("id"), each.get("sha")) if isinstance(each, dict) else (None, None)
            if isinstance(name, str) and _is_id(name):
                yield name, commit if isinstance(commit, str) and _COMMIT.fullmatch(commit) else None


def _tree(wire: Wire, repository: Repository, commit: str) -> list[tuple[str, int | None, str | None]]:
    """All pages of a commit's recursive tree."""
    first = f"{repository.api}/tree/{quote(commit, safe='')}?recursive=true&expand=false"
    endless = "does not end, or is not a list of files"
    files: list[tuple[str, int | None, str | None]] = []
    for page in _pages(wire, first, MAX_LISTING, MAX_PAGES, endless):
        if len(files) > MAX_FILES:
            raise NetworkError(
                f"{repository.id} has more than {integer(MAX_FILES)} files: name the model's own folder in it"
            )
        if not isinstance(page, list):
            raise NetworkError(f"{shown_url(first)} {endless}")
        files += [_file(entry, "path") for entry in page if isinstance(entry, dict) and entry.get("type") == "file"]
    return files


def _pages(wire: Wire, first: str, limit: int, most: int, endless: str) -> Iterator[Any]:
    """The JSON of an address, and of each following page that an answer points to.

    Args:
        limit: bytes of a page.
        most: pages, after which NetworkError says that the address is `endless`.
    """
    url = first
    for _ in range(most):
        body, response = wire.get(url, limit, counted=False)
        yield _json(body, url)
        following = response.links.get("next", {}).get("url")
        if not following:
            return
        url = urljoin(first, following)
    raise NetworkError(f"{shown_url(first)} {endless}")


def _file(entry: Mapping[str, Any], name: str) -> tuple[str, int | None, str | None]:
    """(path, bytes, blob name) of one entry; LFS entries have their own size and hash."""
    lfs = entry.get("lfs")
    lfs = lfs if isinstance(lfs, dict) else {}
    size = lfs.get("size", entry.get("size"))
    known = isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**63
    blob = lfs.get("sha256") or lfs.get("oid") or entry.get("blobId") or entry.get("oid")
    return str(entry.get(name, "")), size if known else None, blob if isinstance(blob, str) else None


def _is_inside(path: str) -> bool:
    """Whether a path is plain and relative, and not hidden: hidden files are left out, as in a local folder."""
    if not path.isascii() and any("\ud800" <= char <= "\udfff" for char in path):
        return False  # an unpaired surrogate: this name cannot be requested
    parts = path.split("/")
    hidden = any(p.startswith(".") for p in parts[:-1]) or (parts[-1].startswith(".") and parts[-1] != COLLECTIVE)
    return bool(path) and "\0" not in path and "\\" not in path and "" not in parts and not hidden


def _is_id(text: str) -> bool:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(text)
    except HFValidationError:
        return False
    return True


def _json(body: bytes, url: str) -> Any:
    if body.count(b"{") + body.count(b"[") > MAX_BRACKETS or body.count(b'"') > MAX_QUOTES:
        raise NetworkError(f"{shown_url(url)} responds with more than any repository has: not read")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NetworkError(f"{shown_url(url)} does not respond in JSON: is the endpoint right?") from error


def shard_headers(wire: Wire, repository: Repository, index: str, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """The first bytes of each shard of an index, header included, by one request; {} if that is unavailable.

    The Hub provides this for the default branch (`HfApi.get_sharded_safetensors_metadata`). It returns headers as JSON
    objects, so a shard's bytes are rebuilt from them, and omitted if they would differ from the file's.
    """
    url = f"{repository.api}/safetensors-metadata/{quote(index)}"
    try:
        body, _ = wire.get(url, MAX_HEADERS, tries=1)
        headers = _json(body, url)["headers"].items()
    except (InspectorError, RefusedError, KeyError, TypeError, AttributeError):
        return {}  # a mirror, or a response of another shape: read ranges instead
    folder = index.rpartition("/")[0]
    paths: Iterable[tuple[str, Any]] = ((f"{folder}/{shard}" if folder else shard, header) for shard, header in headers)
    written = ((path, header_bytes(header, sizes[path])) for path, header in paths if path in sizes)
    return {path: start for path, start in written if start is not None}


def header_bytes(header: Any, size: int) -> bytes | None:
    """A safetensors file's first bytes, from its header as an object; None if they are not certain.

    The header ends where the data begins: at the file's size less the end of the last tensor. The writers'
    compact JSON, padded to 8, fits into just that length, unless the file has gaps after its data, is truncated,
    repeats a key or is spaced differently. All of these are read by range instead.
    """
    try:
        data = max((tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"), default=0)
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
        return None
    if not isinstance(data, int) or any(name.isdecimal() for name in header):
        return None  # JavaScript puts numeric names first, whatever their position in the file
    length = size - data - 8
    padding = length - len(text)
    if padding < 0 or padding > (7 if length % 8 == 0 else 0):
        return None
    return struct.pack("<Q", length) + text + b" " * padding
