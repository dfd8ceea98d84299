"""A Hub on loopback: the paths, headers and refusals that the real client meets, over files on disk.

The API and the resolve addresses are on one host, and the large files, by redirect, on a host of another name.
Every request is logged. `faults` make single addresses misbehave.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

if TYPE_CHECKING:
    from typing_extensions import Self

PAGE = 1000  # files on a page of the tree
CHUNK = 1 << 16
CORS = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "authorization, range",
    "access-control-expose-headers": "content-range, etag, link, x-error-code, x-error-message, x-repo-commit",
}
LIBRARY = "-harnesses"  # where the address of a registry that `huggingface_hub` asks for ends


@dataclass
class Repo:
    """One repository: a folder on disk, and how it may be reached."""

    folder: Path
    gated: bool = False
    private: bool = False
    readers: tuple[str, ...] = ()  # tokens that may read it, where it is gated or private
    revisions: dict[str, Path] = field(default_factory=dict)  # revisions other than main: name → folder
    sizes: bool = True  # whether the description states sizes, as on the Hub and unlike on some mirrors
    all_headers: bool = True  # whether the single request for all headers is supported

    def commits(self) -> dict[str, Path]:
        return {"main": self.folder, **self.revisions}


@dataclass(frozen=True)
class Logged:
    """One request as the server saw it."""

    host: str
    path: str
    method: str
    range: str | None
    token: str | None
    status: int
    sent: int  # bytes of the body that were written


class Hub:
    """The server, on `port` or a free one. `with Hub({"org/name": Repo(folder)}) as hub: … hub.endpoint …`"""

    def __init__(self, repos: dict[str, Repo] | None = None, latency: float = 0.0, port: int = 0) -> None:
        self.repos = repos or {}
        self.renamed: dict[str, str] = {}  # former name → current name
        self.latency = latency  # seconds before each answer
        self.cors = False  # whether other sites' pages may read answers, as the Hub lets them
        self.faults: list[tuple[str, Fault, list[int]]] = []  # part of an address, fault, remaining times
        self.log: list[Logged] = []
        self.busy = 0  # requests in progress
        self._lock = Lock()
        self._servers = [_server(self, "127.0.0.1", port), _server(self, "localhost")]
        self.endpoint = f"http://127.0.0.1:{self._servers[0].server_port}"
        self.storage = f"http://localhost:{self._servers[1].server_port}"

    def __enter__(self) -> Self:
        for server in self._servers:
            Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def fault(self, part: str, fault: Fault, times: int = 1_000_000) -> None:
        """Answer each request whose address contains `part` with `fault`, the first `times` times."""
        self.faults.append((part, fault, [times]))

    def fault_for(self, path: str) -> Fault | None:
        with self._lock:
            for part, fault, left in self.faults:
                if part in path and left[0]:
                    left[0] -= 1
                    return fault
        return None

    def began(self) -> None:
        with self._lock:
            self.busy += 1

    def note(self, entry: Logged) -> None:
        """Log a request, unless it is one that `huggingface_hub` makes once a day on its own."""
        with self._lock:
            if not entry.path.endswith(LIBRARY):
                self.log.append(entry)
            self.busy -= 1

    def settled(self) -> list[Logged]:
        """The log once each answer is written: a client may have read its end before the server logs it."""
        deadline = time.monotonic() + 60  # of the busiest machine
        while self.busy and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.log

    def answered(self, part: str = "") -> list[Logged]:
        """Paths that were requested, without redirects."""
        return [entry for entry in self.settled() if part in entry.path and entry.status // 100 != 3]

    def sent(self) -> int:
        """Body bytes of files that were sent."""
        return sum(e.sent for e in self.settled() if "/api/models/" not in e.path or "/safetensors-metadata/" in e.path)


@cache
def commit_of(folder: Path) -> str:
    """The hash of a commit: of the files' names and sizes. A folder does not change while it is served."""
    return sha1(json.dumps([(p, s) for p, s in sorted(_files(folder).items())]).encode()).hexdigest()


@cache
def blob_of(path: Path) -> str:
    """The SHA-256 of a file, its name in the cache. Of large, sparse ones the size and the beginning are hashed: a listing
    of 163 shards must not take longer than a client waits."""
    size = path.stat().st_size
    with path.open("rb") as file:
        data = file.read() if size <= 1 << 24 else file.read(1 << 16) + size.to_bytes(8, "little")
    return sha256(data).hexdigest()


def oid_of(path: Path) -> str:
    """Git's hash of a small file's content."""
    data = path.read_bytes() if path.stat().st_size < 1 << 24 else b""
    return sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _files(folder: Path) -> dict[str, int]:
    return {p.relative_to(folder).as_posix(): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}


def _server(hub: Hub, host: str, port: int = 0) -> ThreadingHTTPServer:
    class Bound(Handler):
        pass

    Bound.hub = hub
    server = _Server((host, port), Bound)
    server.daemon_threads = True
    return server


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that leave early."""


class Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    sent = 0

    def do_GET(self) -> None:
        self.hub.began()
        if self.hub.latency:
            time.sleep(self.hub.latency)
        self.sent, self.status = 0, 0
        try:
            fault = self.hub.fault_for(self.path)
            if not fault or not fault(self):
                self._route()
            self.wfile.flush()
        finally:
            token = (self.headers.get("authorization") or "").removeprefix("Bearer ") or None
            host = self.headers.get("host", "").split(":")[0]
            entry = Logged(host, self.path, self.command, self.headers.get("range"), token, self.status, self.sent)
            self.hub.note(entry)

    def do_OPTIONS(self) -> None:
        """A browser asks before it sends a token."""
        self.head(204, {"content-length": "0"})

    do_HEAD = do_GET  # noqa: N815  the standard library's name

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _route(self) -> None:
        parts = urlsplit(self.path)
        for pattern, method in ROUTES:
            if match := re.fullmatch(pattern, parts.path):
                parsed = {key: unquote(value) if value else value for key, value in match.groupdict().items()}
                method(self, query=parse_qs(parts.query), **parsed)
                return
        self.refuse(404, "no such page")

    def repo(self, name: str, bytes_of_it: bool) -> Repo | None:
        """The repository, if this request may read it; otherwise the request has been refused or redirected."""
        if name in self.hub.renamed:
            today = quote(self.hub.renamed[name])
            self.redirect(self.path.replace(quote(name), today, 1), 307)
            return None
        repo = self.hub.repos.get(name)
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        allowed = repo is not None and (token in repo.readers or not repo.private)
        if repo is None or not allowed:
            if token:
                self.refuse(404, "Repository not found", "RepoNotFound")
            else:
                self.refuse(401, "Invalid username or password.")
            return None
        if repo.gated and bytes_of_it and token not in repo.readers:
            self.refuse(403 if token else 401, f"Access to model {name} is restricted.", "GatedRepo")
            return None
        return repo

    def commit(self, repo: Repo, revision: str | None) -> tuple[str, Path] | None:
        for name, folder in repo.commits().items():
            commit = commit_of(folder)
            if (revision or "main") in (name, commit):
                return commit, folder
        self.refuse(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return None

    def describe(self, name: str, rev: str | None = None, query: dict[str, list[str]] | None = None) -> None:
        if not (repo := self.repo(name, False)) or not (found := self.commit(repo, rev)):
            return
        commit, folder = found
        sizes = repo.sizes and "blobs" in (query or {})
        siblings = [
            {"rfilename": path, **(_described(folder / path, "blobId", "sha256") if sizes else {})}
            for path in _files(folder)
        ]
        self.json({"id": name, "sha": commit, "private": repo.private, "gated": repo.gated, "siblings": siblings})

    def models(self, query: dict[str, list[str]]) -> None:
        """A page of an author's repositories, two per page, with their latest commits."""
        author, start = query.get("author", [""])[0], int(query.get("cursor", ["0"])[0])
        names = sorted(name for name in self.hub.repos if name.startswith(f"{author}/"))
        following = f"{self.hub.endpoint}/api/models?author={quote(author)}&expand[]=sha&cursor={start + 2}"
        link = {"link": f'<{following}>; rel="next"'} if start + 2 < len(names) else {}
        page = names[start : start + 2]
        self.json([{"id": name, "sha": commit_of(self.hub.repos[name].folder)} for name in page], link)

    def tree(self, name: str, rev: str, query: dict[str, list[str]]) -> None:
        if not (repo := self.repo(name, False)) or not (found := self.commit(repo, rev)):
            return
        _, folder = found
        start = int(query.get("cursor", ["0"])[0])
        entries = [{"type": "file", "path": path, **_described(folder / path, "oid", "oid")} for path in _files(folder)]
        following = (
            f"{self.hub.endpoint}/api/models/{name}/tree/{quote(rev, safe='')}?recursive=true&cursor={start + PAGE}"
        )
        link = {"link": f'<{following}>; rel="next"'} if start + PAGE < len(entries) else {}
        self.json(entries[start : start + PAGE], link)

    def all_headers(self, name: str, path: str, query: dict[str, list[str]]) -> None:
        """Answer as the Hub does to `HfApi.get_sharded_safetensors_metadata`."""
        repo = self.repo(name, True)
        if not repo:
            return
        index = repo.folder / path
        if not repo.all_headers or not index.is_file():
            self.refuse(404, "not available")
            return
        content = json.loads(index.read_bytes())
        headers = {shard: _header(index.parent / shard) for shard in sorted(set(content["weight_map"].values()))}
        self.json({"index": {"metadata": content.get("metadata")}, "headers": headers})

    def resolve(self, name: str, rev: str, path: str, query: dict[str, list[str]]) -> None:
        """Redirect to a file: large ones are on the storage's host, small ones on this one."""
        if not (repo := self.repo(name, True)) or not (found := self.commit(repo, rev)):
            return
        commit, folder = found
        file = folder / path
        if not file.is_file():
            self.refuse(404, "Entry not found", "EntryNotFound")
            return
        headers = {"x-repo-commit": commit, "accept-ranges": "bytes", "etag": f'"{blob_of(file)}"'}
        if is_large(path):
            headers |= {"x-linked-size": str(file.stat().st_size), "x-linked-etag": f'"{blob_of(file)}"'}
            target = f"{self.hub.storage}/storage/{quote(name)}/{commit}/{quote(path)}?signature=secret"
            self.redirect(target, 302, headers)
        else:
            self.redirect(f"/api/resolve-cache/models/{quote(name)}/{commit}/{quote(path)}", 307, headers)

    def small_file(self, name: str, rev: str, path: str, query: dict[str, list[str]]) -> None:
        if (repo := self.repo(name, True)) and (found := self.commit(repo, rev)):
            commit, folder = found
            self.answer(
                200, (folder / path).read_bytes(), {"etag": f'"{blob_of(folder / path)}"', "x-repo-commit": commit}
            )

    def large_file(self, name: str, rev: str, path: str, query: dict[str, list[str]]) -> None:
        """A file of the storage: its address needs a signature, and a token must not be sent."""
        if query.get("signature") != ["secret"] or self.headers.get("authorization"):
            self.refuse(400, "one way in, please")
            return
        found = self.commit(self.hub.repos[name], rev)
        if found:
            self.file(found[1] / path)

    def file(self, file: Path) -> None:
        """Send a file, or the requested range of it."""
        size, start, end, status = file.stat().st_size, 0, file.stat().st_size, 200
        headers = {"etag": f'"{blob_of(file)}"', "accept-ranges": "bytes"}
        if match := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", "")):
            start, end, status = int(match[1]), min(size, int(match[2]) + 1), 206
            if start >= size:
                self.answer(416, b"", {"content-range": f"bytes */{size}"})
                return
            headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
        self.head(status, {**headers, "content-length": str(end - start)})
        with file.open("rb") as opened:
            opened.seek(start)
            while start < end and self.command != "HEAD":
                self.write(opened.read(min(CHUNK, end - start)))
                start += CHUNK

    # -- answers, for the faults as well

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.status = status
        self.send_response(status)
        for name, value in (headers | CORS if self.hub.cors else headers).items():
            self.send_header(name, value)
        self.end_headers()

    def write(self, data: bytes) -> None:
        if self.command != "HEAD":
            self.wfile.write(data)
            self.sent += len(data)

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        headers = dict(headers or {})
        if "gzip" in self.headers.get("accept-encoding", "") and len(body) > 1000:
            body = gzip.compress(body, 1)
            headers["content-encoding"] = "gzip"
        self.head(status, {**headers, "content-length": str(len(body))})
        self.write(body)

    def json(self, content: object, headers: dict[str, str] | None = None) -> None:
        self.answer(200, json.dumps(content, separators=(",", ":")).encode(), headers)

    def redirect(self, target: str, status: int, headers: dict[str, str] | None = None) -> None:
        self.answer(status, b"Found. Redirecting", {**(headers or {}), "location": target})

    def refuse(self, status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> None:
        stated = {"x-error-message": message, **({"x-error-code": code} if code else {}), **(headers or {})}
        self.answer(status, json.dumps({"error": message}).encode(), stated)


Fault = Callable[[Handler], bool]

_ID = r"(?P<name>[\w.-]+(?:/[\w.-]+)?)"
ROUTES: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"/api/models", Handler.models),
    (rf"/api/models/{_ID}/tree/(?P<rev>[^/]+)", Handler.tree),
    (rf"/api/models/{_ID}/revision/(?P<rev>[^/]+)", Handler.describe),
    (rf"/api/models/{_ID}/safetensors-metadata/(?P<path>.+)", Handler.all_headers),
    (rf"/api/resolve-cache/models/{_ID}/(?P<rev>[^/]+)/(?P<path>.+)", Handler.small_file),
    (rf"/api/models/{_ID}", Handler.describe),
    (rf"/storage/{_ID}/(?P<rev>[0-9a-f]+)/(?P<path>.+)", Handler.large_file),
    (rf"/{_ID}/resolve/(?P<rev>[^/]+)/(?P<path>.+)", Handler.resolve),
)


def _described(file: Path, oid: str, hash_: str) -> dict[str, Any]:
    """Size and hashes, under the names of the description (`blobId`, `sha256`) or of the tree (`oid`, `oid`)."""
    size = file.stat().st_size
    lfs = {"lfs": {hash_: blob_of(file), "size": size, "pointerSize": 134}} if is_large(file.name) else {}
    return {"size": size, oid: oid_of(file), **lfs}


def is_large(path: str) -> bool:
    return path.endswith((".safetensors", ".gguf", ".bin"))


def _header(file: Path) -> Any:
    with file.open("rb") as opened:
        (length,) = struct.unpack("<Q", opened.read(8))
        return json.loads(opened.read(length))


@contextmanager
def serving(folders: dict[str, Path], latency: float = 0.0) -> Iterator[Hub]:
    """A Hub with a public repository for each folder."""
    with Hub({name: Repo(folder) for name, folder in folders.items()}, latency) as hub:
        yield hub
