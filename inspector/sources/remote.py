"""One file over HTTP: only requested bytes are read, and nothing is fetched twice; and the place of a URL.

Any server will do that supports range requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from inspector.errors import InspectorError, SourceError, TargetError
from inspector.model import Origin
from inspector.sources import Readable, check_end, check_size, workers
from inspector.sources.answers import Link, RefusedError, as_error, shown_url
from inspector.sources.filenames import INDEX, PICKLED, PICKLED_INDEX, WEIGHTS, shard_of
from inspector.sources.http import Wire
from inspector.units import escape, integer

#: Bytes of the first request if the header's size is unknown. 97% of the safetensors headers on the Hub have fewer than
#: 100,000 (measured by huggingface_hub), and few shards of large models more than 250,000.
FIRST = 256 * 1024
#: A header's bytes are kept in memory, and no header is larger than this.
MAX_KEPT = 512 * 1024 * 1024
#: Bytes of the first streamed request, which has most vocabularies of 32,000 tokens. The connection is closed when
#: parsing is done, but a server has sent a few megabytes beyond that; a browser reads all of it.
STREAM = (2 if workers.THREADS else 1) * 1024 * 1024
#: Least bytes of a later one, and the share of the bytes so far: little is sent in vain, and requests stay few.
STEP, SHARE = 512 * 1024, 8
#: Files beside a URL that are requested, one by one: the largest published sets have some hundreds.
MOST_ASKED = 2000
_INDEXES = (INDEX, PICKLED_INDEX)
#: Name of a whole model's only file → the configuration that libraries write beside it.
_CONFIGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("model", "pytorch_model", "diffusion_pytorch_model"), frozenset({"config.json"})),
    "adapter_model": frozenset({"adapter_config.json"}),
}


def has_long_header(path: str) -> bool:
    """Whether megabytes of header are likely: a GGUF contains the vocabulary, except in later shards."""
    shard = shard_of(path)
    return path.endswith(".gguf") and (shard is None or shard.number <= 1)


class RemoteFile:
    """A `Source` over one `Link`. For one thread at a time."""

    def __init__(
        self,
        wire: Wire,
        link: Link,
        first: int = FIRST,
        streamed: bool = False,
        known: bytes = b"",
        explain: Callable[[RefusedError], InspectorError] | None = None,
    ) -> None:
        """
        Args:
            first: bytes of the first request.
            streamed: `prefix` will be called repeatedly for a long header: begin with one long response.
            known: the file's first bytes, if already obtained otherwise.

        If the link has no size yet, the first request is sent now to learn it.
        """
        self._wire, self._link = wire, link
        self._first = 0 if streamed else first
        self._explain = explain or (lambda refused: as_error(refused, shown_url(link.url)))
        self._kept = bytearray(known)
        self._have = len(known)
        self._stream: Iterator[bytes] | None = None
        self._open_stream = ExitStack()
        if link.size is None:
            self._guarded(lambda: self._follow_stream(1) if streamed else self._fetch(first))

    @property
    def size(self) -> int:
        return self._link.size or 0

    def read(self, offset: int, length: int) -> bytes:
        end = offset + length
        check_end(end, self.size, shown_url(self._link.url))
        if end > self._have and (offset > self._have or end > MAX_KEPT):
            return self._elsewhere(offset, end)
        if end > self._have:
            self._guarded(lambda: self._follow_stream(end) if self._stream else self._fetch(end))
        return bytes(memoryview(self._kept)[offset:end])

    def prefix(self, length: int) -> memoryview:
        """Beyond the first request, one long response is read as parsing proceeds, and cut off when it ends."""
        length = min(length, self.size)
        if length > MAX_KEPT:
            raise SourceError(
                f"{shown_url(self._link.url)}: a header of more than {integer(MAX_KEPT)} bytes is not read"
            )
        if length > self._have and self._have < self._first:
            self._guarded(lambda: self._fetch(length))
        if length > self._have:
            self._guarded(lambda: self._follow_stream(length))
        return memoryview(self._kept)[: self._have].toreadonly()

    def close(self) -> None:
        """End the request in progress, if any."""
        self._end_stream()

    def _fetch(self, end: int) -> None:
        """Read the first `end` bytes, and whatever else the first request returns, by one bounded request."""
        self._end_stream()
        end = self._until(max(end, self._first))
        if end > self._have:
            with self._wire.ranged(self._link, self._have, end) as chunks:
                for chunk in chunks:
                    self._keep(chunk)

    def _follow_stream(self, length: int) -> None:
        """Read the first `length` bytes from one long response, which the next call continues."""
        while self._have < self._until(length):
            try:
                if self._stream is None:
                    step = max(STEP, self._have // SHARE) if self._have >= STREAM else STREAM
                    end = self._until(max(self._have + step, length))
                    self._stream = self._open_stream.enter_context(self._wire.ranged(self._link, self._have, end))
                self._keep(next(self._stream))
            except StopIteration:
                self._end_stream()
            except BaseException:
                self._end_stream()
                raise

    def _until(self, end: int) -> int:
        return end if self._link.size is None else min(end, self._link.size)

    def _end_stream(self) -> None:
        self._stream = None
        self._open_stream.close()

    def _elsewhere(self, offset: int, end: int) -> bytes:
        """Bytes far beyond the header: fetched, but not kept."""
        parts: list[bytes] = []

        def attempt() -> None:
            with self._wire.ranged(self._link, offset + sum(map(len, parts)), end) as chunks:
                parts.extend(chunks)

        self._guarded(attempt)
        return b"".join(parts)

    def _guarded(self, attempt: Callable[[], None]) -> None:
        try:
            self._wire.retry(attempt)
        except RefusedError as refused:
            raise self._explain(refused) from refused

    def _keep(self, chunk: bytes) -> None:
        """Append. Views of the previous buffer stay valid, because it is replaced, not resized."""
        end = self._have + len(chunk)
        if end > len(self._kept):
            grown = bytearray(max(end, 2 * len(self._kept)))
            grown[: self._have] = memoryview(self._kept)[: self._have]
            self._kept = grown
        self._kept[self._have : end] = chunk
        self._have = end


class UrlPlace(Readable):
    """A file at a URL as a place, with what belongs to its set if it is a shard or an index. No token is sent."""

    parallel = 1

    def __init__(self, url: str) -> None:
        self._url = url
        self._wire = Wire(home=url)
        self.selected: str | None = PurePosixPath(unquote(urlsplit(url).path)).name or "file"
        self._open = {self.selected: RemoteFile(self._wire, Link(url), streamed=has_long_header(self.selected))}
        self.name = PurePosixPath(self.selected).stem
        is_set = self.selected.endswith(_INDEXES) or shard_of(self.selected) is not None
        beside = _is_of_set if is_set else _CONFIGS.get(self.name, frozenset()).__contains__
        self.files: Mapping[str, int] = _Beside(self._open, self._ask, beside)

    def _ask(self, path: str) -> RemoteFile | None:
        """A file beside the target, by a request: no server lists its files. None if it is not there."""
        parts = urlsplit(self._url)
        url = parts._replace(path=f"{parts.path.rpartition('/')[0]}/{quote(path)}").geturl()
        try:
            return RemoteFile(self._wire, Link(url), streamed=has_long_header(path), explain=_absent_or_error(url))
        except _AbsentError:
            return None

    def open(self, path: str) -> RemoteFile:
        if path not in self.files:
            raise TargetError(f"{escape(path)} is not at {shown_url(self._url)}")
        return self._open[path]

    def read_bytes(self, path: str, limit: int) -> bytes:
        file = self.open(path)
        check_size(file.size, limit, path)
        return file.read(0, file.size)

    def origin(self) -> Origin:
        wire = self._wire
        return Origin("url", shown_url(self._url), None, wire.requests, wire.bytes_read, wire.redirects)

    def close(self) -> None:
        self._wire.close()
        for file in self._open.values():
            file.close()


class _AbsentError(SourceError):
    """A file that the server does not have, or does not show."""


def _absent_or_error(url: str) -> Callable[[RefusedError], InspectorError]:
    def explain(refused: RefusedError) -> InspectorError:
        error = as_error(refused, shown_url(url))
        return _AbsentError(str(error)) if refused.response.status_code in (401, 403, 404, 410) else error

    return explain


class _Beside(Mapping[str, int]):
    """Path → size of the files known so far. Others that may be of the set are asked for when looked up, once."""

    def __init__(
        self, known: dict[str, RemoteFile], ask: Callable[[str], RemoteFile | None], may_ask: Callable[[str], bool]
    ) -> None:
        self._known, self._ask, self._may_ask = known, ask, may_ask
        self._asked: set[str] = set()

    def __getitem__(self, path: str) -> int:
        if path not in self._known and path not in self._asked and self._may_ask(path):
            if len(self._asked) == MOST_ASKED:
                raise SourceError(f"more than {integer(MOST_ASKED)} files beside a URL are not requested")
            self._asked.add(path)
            if (file := self._ask(path)) is not None:
                self._known[path] = file
        return self._known[path].size

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._known))

    def __len__(self) -> int:
        return len(self._known)


def _is_of_set(path: str) -> bool:
    return path == "config.json" or path.endswith((*WEIGHTS, *PICKLED, *_INDEXES))
