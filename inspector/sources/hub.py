"""A repository on the Hub: one listing, then the first bytes of each weight file. The cache is asked first.

`huggingface_hub` provides the session, the token, the endpoint, the cache and the meaning of refusals. The requests
themselves go through `http.Wire`, since `huggingface_hub`'s are neither bounded nor counted.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from threading import Lock
from urllib.parse import urlsplit

from inspector.errors import InspectorError, NetworkError, TargetError, UsageError
from inspector.model import Origin
from inspector.sources import Place, Readable, Source, check_size
from inspector.sources.answers import Link, RefusedError, UnreachableError, shown_url, status_of
from inspector.sources.filenames import INDEX, shard_of
from inspector.sources.http import Wire
from inspector.sources.hub_api import Listing, Repository, listing, shard_headers
from inspector.sources.hub_cache import CachedPlace, Snapshot, is_whole, snapshot_of
from inspector.sources.local import LocalFile
from inspector.sources.remote import FIRST, RemoteFile, has_long_header
from inspector.units import escape, integer
from inspector.version import __version__

#: Shards that are requested concurrently: two connections each, one to the Hub and one to its storage.
PARALLEL = 32
#: Bytes of a header entry, apart from the tensor's name: 75 to 85 in large models.
HEADER_LINE = 90
#: Bytes of a header's `__metadata__`, usually far fewer.
HEADER_METADATA = 512
#: Bytes of a first request; an index that implies more for one shard is not trusted.
MAX_FIRST = 4 * 1024 * 1024
#: An index of more bytes is not read a second time to estimate header sizes.
MAX_GUESSED_INDEX = 16_000_000


@dataclass(frozen=True, slots=True)
class HubName:
    """The parts of `org/name@revision/path`."""

    repo: str
    kind: str = "model"
    revision: str | None = None
    path: str = ""  # a file or folder in the repository; "" for all of it


def parse(target: str) -> HubName:
    """A Hub id, an `hf://` URI or a page's URL, by `huggingface_hub`'s own grammar; and `name` without a namespace.

    Raises:
        UsageError: it is meant as a name on the Hub, but is not valid.
        TargetError: it may as well be a path.
    """
    home = endpoint()
    from huggingface_hub.errors import HfUriError, HFValidationError  # 0.2 s, and only for Hub targets
    from huggingface_hub.utils import parse_hf_uri, validate_repo_id

    bare = target.removeprefix("hf://")
    name, _, revision = bare.partition("@")
    try:
        if "/" not in name and "://" not in bare:
            validate_repo_id(name)
            return HubName(name, revision=revision or None)
        uri = parse_hf_uri(target if "://" in target else f"hf://{target}", endpoint=home)
    except (HfUriError, HFValidationError) as error:
        if not target.startswith(("hf://", "http://", "https://")):
            raise TargetError(
                f"{escape(target, 200)}: no such file or folder, and not a valid name on the Hub"
            ) from error
        site, _, single = target.rstrip("/").rpartition("/")
        why = escape(" ".join(str(error).split()), 200)
        if site == home.rstrip("/"):  # https://huggingface.co/gpt2
            why = f"a model is org/name there, or one without an organization: hf://{escape(single, 100)}"
        raise UsageError(f"{escape(target, 200)} is not a name on the Hub: {why}") from error
    if uri.type not in ("model", "dataset", "space"):
        raise UsageError(f"{escape(target, 200)} is a {uri.type}: only models, datasets and spaces are inspected")
    if ".." in uri.path_in_repo.split("/"):
        raise UsageError(f"{escape(target, 200)} points outside its repository")
    return HubName(uri.id, uri.type, uri.revision, uri.path_in_repo.strip("/"))


#: What a host's name may have: letters of any alphabet, and an IPv6 address in brackets.
_HOST = re.compile(r"(?:[^\W_][\w-]{0,62}\.)*[^\W_][\w-]{0,62}\.?|[0-9a-fA-F:.]*:[0-9a-fA-F:.]+(?:%\w+)?")


def endpoint() -> str:
    """The Hub's address: HF_ENDPOINT, where it is set.

    Raises:
        UsageError: it is not the address of a server.
    """
    try:
        from huggingface_hub import constants

        text: str = constants.ENDPOINT
    except ValueError:  # the library takes it apart when it is imported
        text = os.environ.get("HF_ENDPOINT", "")
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  raises ValueError for one that is not a number up to 65,535
        known = parts.scheme in ("http", "https") and not parts.query + parts.fragment
        known = known and not parts.path.startswith("//")  # two addresses
        if known and _HOST.fullmatch(parts.hostname or "") and not re.search(r"[\s\\\x00-\x20\x7f]", text):
            return text
    except ValueError:  # also of brackets without an IPv6 address
        pass
    shown = f"`{escape(re.sub(r'(//)[^/@]*@', r'//', text), 100)}`" if text else "empty"
    raise UsageError(
        f"HF_ENDPOINT is {shown}, which is not the address of a server: https://HOST, http://HOST:PORT or with a path"
    )


def is_hub_url(url: str) -> bool:
    """Whether an http(s) URL is a page or file on the Hub, or on the endpoint configured instead of it."""
    homes = (endpoint(), "https://huggingface.co", "https://hf.co")
    return any(url == home or url.startswith(home + "/") for home in homes)


def hub_place(name: HubName, revision: str | None = None, *, before: Origin | None = None) -> Place:
    """The place in the cache if all of it is there, else on the Hub.

    Args:
        before: where it was read first; `revision` is that commit, whose files need not be listed again.

    Raises:
        TargetError: there is no such repository, revision or file, or no access to it.
        SourceError: the Hub cannot be reached, and the cache does not have it.
    """
    if revision and name.revision and revision != name.revision and before is None:
        raise UsageError(f"two revisions: {escape(name.revision)} in the name, and --revision {escape(revision)}")
    name = replace(name, revision=revision or name.revision)
    snapshot = snapshot_of(name.repo, name.kind, name.revision)
    if snapshot and is_whole(snapshot, name.path):
        return CachedPlace(name.repo, snapshot, name.path)
    try:
        return HubPlace(name, before.listing if before else None)
    except UnreachableError as error:
        if snapshot and (snapshot.folder / name.path).exists():
            return CachedPlace(name.repo, snapshot, name.path)
        raise NetworkError(
            f"{escape(name.repo)} is neither a local path nor in the Hub's cache, and {error.sentence}"
        ) from error


def _headers() -> dict[str, str]:
    """The token, as the Hub's library finds it, and this program's name."""
    from huggingface_hub import constants, get_token
    from huggingface_hub.utils import build_hf_headers

    try:
        return build_hf_headers(library_name="checkpoint-inspector", library_version=__version__)
    except (AttributeError, TypeError):  # the endpoint's list of agents, which the library reads, is none
        token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
        named = {"user-agent": f"checkpoint-inspector/{__version__}"}
        return named | ({"authorization": f"Bearer {token}"} if token else {})


class HubPlace(Readable):
    """A repository, a folder in one, or one file in its folder."""

    parallel = PARALLEL

    def __init__(self, name: HubName, known: object = None) -> None:
        self._wire = Wire(endpoint(), _headers())
        self._asked = name
        repository = Repository(endpoint(), name.kind, name.repo, name.revision)
        self._listed = listed = known if isinstance(known, Listing) else self._listing(repository)
        # Pin the commit, so that a push in between cannot mix two revisions.
        self._repository = replace(repository, id=listed.id, revision=listed.commit)
        self._follows_main = name.revision in (None, "main") and name.kind == "model"
        self._blobs = listed.blobs
        self._cache: Snapshot | None = snapshot_of(name.repo, name.kind, None, commit=listed.commit)
        self.name = listed.id.rpartition("/")[2]
        self.files: Mapping[str, int]
        self._root, self.selected, self.files = _part(listed, name.path)
        self._guesses: dict[str, int] = defaultdict(lambda: HEADER_METADATA)  # path → approximate bytes of its header
        self._opened: list[LocalFile | RemoteFile] = []
        self._headers: dict[str, dict[str, bytes]] = {}  # index → path in the repository → first bytes
        self._headers_lock = Lock()

    def _listing(self, repository: Repository) -> Listing:
        try:
            return listing(self._wire, repository)
        except RefusedError as refused:
            raise self._explain(refused) from refused

    @property
    def digests(self) -> Mapping[str, str]:
        """Path → SHA-256 of a large file, git's SHA-1 of a small one, from the listing."""
        root = self._root
        return {path: self._blobs[root + path] for path in self.files if root + path in self._blobs}

    def open(self, path: str) -> Source:
        source = self._cached(path) or self._remote(path)
        self._opened.append(source)
        return source

    def _cached(self, path: str) -> LocalFile | None:
        full = self._root + path
        if path not in self.files:
            raise TargetError(f"{escape(self._repository.id)} has no file {escape(full)}")
        file = self._cache.file(full, self.files[path], self._blobs.get(full)) if self._cache else None
        return LocalFile(file) if file else None

    def _remote(self, path: str) -> RemoteFile:
        link = Link(self._repository.file(self._root + path), self.files[path])
        streamed, known = has_long_header(path), self._known(path)
        return RemoteFile(self._wire, link, self._first(path), streamed, known, self._explain)

    def _known(self, path: str) -> bytes:
        """A shard's first bytes from the single request for all shards; b"" if they must be read from the file."""
        index = self._index_of(path)
        if index is None or not self._follows_main:
            return b""
        with self._headers_lock:
            if index not in self._headers:
                sizes = {self._root + file: size for file, size in self.files.items()}
                self._headers[index] = shard_headers(self._wire, self._repository, self._root + index, sizes)
        return self._headers[index].get(self._root + path, b"")

    def _first(self, path: str) -> int:
        """Bytes of a file's first request: its header's size if the index is right, else the default."""
        return min(self._guesses.get(path, FIRST), MAX_FIRST)

    def _guess(self, index: str, text: bytes) -> None:
        """Estimate from an index how long its shards' headers are."""
        folder, slash, _ = index.rpartition("/")
        try:
            lines = json.loads(text)["weight_map"].items() if len(text) <= MAX_GUESSED_INDEX else ()
            for name, file in lines:
                self._guesses[folder + slash + file] += len(name) + HEADER_LINE
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._guesses.clear()  # the reader of the index reports what is wrong with it

    def _index_of(self, path: str) -> str | None:
        shard = shard_of(path)
        index = shard.stem + INDEX if shard else None
        return index if index in self.files else None

    def read_bytes(self, path: str, limit: int) -> bytes:
        source = self._cached(path)
        size = self.files[path]
        check_size(size, limit, path)
        if source:
            self._opened.append(source)
            data = source.read(0, size)
        else:
            data = self._small(path, size)
        if path.endswith(INDEX):
            self._guess(path, data)
        return data

    def _small(self, path: str, size: int) -> bytes:
        url = self._repository.file(self._root + path)
        try:
            data, _ = self._wire.get(url, size)
        except RefusedError as refused:
            raise self._explain(refused) from refused
        if len(data) != size:
            raise NetworkError(f"{shown_url(url)} returned {integer(len(data))} of {integer(size)} bytes")
        return data

    def origin(self) -> Origin:
        wire = self._wire
        local = sum(file.bytes_read for file in self._opened if isinstance(file, LocalFile))
        location = self._repository.page + (
            f"/{self._root}{self.selected or ''}".rstrip("/") if self._asked.path else ""
        )
        read = wire.bytes_read + local
        return Origin("hub", location, self._listed.commit, wire.requests, read, wire.redirects, self._listed)

    def close(self) -> None:
        self._wire.close()
        for source in self._opened:
            source.close()

    def _explain(self, refused: RefusedError) -> InspectorError:
        answer, listed = refused.response, "_listed" in vars(self)
        if listed and answer.status_code == 404 and "x-error-code" not in answer.headers:  # e.g. a mirror's redirect
            where, who = shown_url(str(answer.url)), escape(self._repository.id)
            return TargetError(f"{where} answered {status_of(answer)}, but {who} lists that file")
        return explain(refused, self._asked)


def _part(listed: Listing, path: str) -> tuple[str, str | None, dict[str, int]]:
    """(folder with its slash, selected file, files by path in it) that `path` means in a repository."""
    if path in listed.sizes:
        folder, slash, selected = path.rpartition("/")
        root = folder + slash
        return root, selected, {f[len(root) :]: n for f, n in listed.sizes.items() if f.rpartition("/")[0] == folder}
    root = f"{path}/" if path else ""
    files = {file[len(root) :]: size for file, size in listed.sizes.items() if file.startswith(root)}
    if path and not files:
        near = get_close_matches(path, [*listed.sizes, *{f.rpartition("/")[0] for f in listed.sizes}], 3)
        hint = f"; did you mean {', '.join(escape(n, 100) for n in near)}?" if near else ""
        raise TargetError(f"{escape(listed.id)} on the Hub has no file or folder {escape(path, 200)}{hint}")
    return root, None, files


def explain(refused: RefusedError, name: HubName) -> InspectorError:
    """A refusal in one line, with the most helpful next step. `huggingface_hub` decides what the refusal means."""
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import hf_raise_for_status

    response = refused.response
    who, page = escape(name.repo), f"{constants.ENDPOINT}/{name.repo}"
    token = "authorization" in response.request.headers
    try:
        hf_raise_for_status(response)
    except errors.GatedRepoError:
        way = (
            f"ask for access at {page} with the account of your token"
            if token
            else (f"accept its conditions at {page}, then log in with `hf auth login` or set HF_TOKEN")
        )
        return TargetError(f"{who} is gated: {way}")
    except errors.DisabledRepoError:
        return TargetError(f"{who} has been disabled by the Hub")
    except errors.RevisionNotFoundError:
        return TargetError(
            f"{who} has no revision {escape(name.revision or 'main', 100)}: name a branch, a tag, a commit or refs/pr/N"
        )
    except errors.EntryNotFoundError:
        return TargetError(f"{shown_url(str(response.url))}: {who} has no such file at this revision")
    except errors.RepositoryNotFoundError:
        return _not_found(name, token)
    except errors.HfHubHTTPError:
        pass
    if response.status_code == 404 or (response.status_code in (401, 403) and not token):
        return _not_found(name, token)
    if response.status_code == 401:
        return TargetError(
            f"the Hub refuses the token ({status_of(response)}): log in again with `hf auth login`, or unset HF_TOKEN"
        )
    if response.status_code == 429:
        return NetworkError(
            f"the Hub allows no more requests for now ({status_of(response)}): try later, or log in, which allows more"
        )
    return NetworkError(f"{shown_url(str(response.url))} answered {status_of(response)}")


def _not_found(name: HubName, token: bool) -> TargetError:
    from huggingface_hub import constants

    asked = f"{name.repo}/{name.path}" if name.path else name.repo
    way = (
        "or your token has no access to it"
        if token
        else "if it is private, log in with `hf auth login` or set HF_TOKEN"
    )
    return TargetError(
        f"{escape(asked, 200)}: no such file or folder here, and {constants.ENDPOINT} has no {name.kind} "
        f"{escape(name.repo, 100)}; {way}"
    )
