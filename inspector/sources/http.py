"""HTTP as an inspector needs it: small reads, bounded, counted, retried, and the token kept at home.

`Wire` sends the requests of one place through the session of `huggingface_hub`, so that proxies, certificates
and offline mode hold as configured there. `Link` is one file's address. `remote.RemoteFile` reads through them.

Nothing that a server says is believed: each body has a limit and a deadline, each answer to a range request
must be the range that was asked for, redirects are followed by hand.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from time import monotonic, time
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from inspector.errors import InspectorError, SourceError, TargetError
from inspector.units import escape, integer, plural

if TYPE_CHECKING:
    from httpx2 import Response

#: Answers that may be better the next time (as `huggingface_hub` has them).
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
TRIES = 5
FIRST_WAIT = 0.5  # seconds; doubles with each try
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is not waited for
MAX_REDIRECTS = 10
CONNECT_TIMEOUT = 10.0  # seconds
PATIENCE = 30.0  # seconds that any answer may take
SLOWEST = 20_000  # bytes a second, on top of that: slower is given up
SMALL_BODY = 65_536  # bytes of an unwanted body that are read so that the connection can be kept

_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})")
_EMPTY_FILE = re.compile(r"bytes \*/0")

Answer = TypeVar("Answer")


class Refused(Exception):
    """The server's final answer is not the one asked for. `response` has its body, cut at `SMALL_BODY`."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class Unreachable(SourceError):
    """Nothing was heard from the server at all."""


class _Again(Exception):
    """Worth another try, after `wait` seconds if the server says so; `final` is raised when there are no more."""

    def __init__(self, final: Exception, wait: float | None = None) -> None:
        super().__init__(str(final))
        self.final = final
        self.wait = wait


@dataclass(slots=True)
class Link:
    """Where one file is. What its redirect led to is asked directly from then on."""

    url: str
    size: int | None = None  # bytes; None until a server has told
    etag: str | None = None
    found_at: str | None = None  # after redirects; signed for an hour or so, and forgotten when refused
    found_home: bool = True  # no redirect has left the place that the credentials are for


class Wire:
    """The requests of one place. Safe to use from several threads."""

    def __init__(self, home: str = "", credentials: Mapping[str, str] | None = None) -> None:
        """`credentials` are headers for the scheme, host and port of `home`, and for no other."""
        self.requests = 0  # sent, each with the redirects that its answer took
        self.redirects = 0  # followed
        self.bytes_read = 0  # of bodies, as they came over the wire
        self._home = _origin(home)
        self._credentials = dict(credentials or {})
        self._lock = Lock()
        self._closed = Event()

    def close(self) -> None:
        """Wake whoever waits for a retry."""
        self._closed.set()

    def get(self, url: str, limit: int, tries: int = TRIES, counted: bool = True) -> tuple[bytes, Response]:
        """A whole small body, and its answer's head.

        Raises:
            SourceError: over `limit` bytes, or not to be had.
            Refused: an answer other than 200.
        """
        return self._retry(lambda: self._get(url, limit, counted), tries)

    def _get(self, url: str, limit: int, counted: bool) -> tuple[bytes, Response]:
        with self._answer(Link(url), {"accept-encoding": "gzip"}) as response:
            if response.status_code != 200:
                raise Refused(response)
            body = b"".join(_decoded(self._body(response, limit, counted), response, limit))
            return body, response

    @contextmanager
    def ranged(self, link: Link, start: int, end: int) -> Iterator[Iterator[bytes]]:
        """The bytes [start, end) of a file, as they come; fewer where the file is shorter.

        Raises:
            SourceError: the server does not do ranges, or answers with another one.
            Refused: an answer other than the range.
        """
        headers = {"accept-encoding": "identity", "range": f"bytes={start}-{end - 1}"}
        with self._answer(link, headers) as response:
            yield self._body(response, _checked_range(response, link, start, end), True, exact=True)

    def _retry(self, attempt: Callable[[], Answer], tries: int = TRIES) -> Answer:
        """`attempt`, again while its failure is a passing one."""
        wait = FIRST_WAIT
        for left in reversed(range(tries)):
            try:
                return attempt()
            except _Again as again:
                asked = again.wait if again.wait is not None else wait
                if not left or asked > LONGEST_WAIT:
                    raise again.final from again
                if self._closed.wait(asked):
                    raise SourceError("stopped while waiting for a server") from again
                wait *= 2
        raise AssertionError("unreachable: the last try raises")

    def retry(self, attempt: Callable[[], Answer]) -> Answer:
        """For those who keep what an interrupted `ranged` gave, and ask for the rest."""
        return self._retry(attempt)

    @contextmanager
    def _answer(self, link: Link, headers: Mapping[str, str]) -> Iterator[Response]:
        """The answer's head, redirects followed; its body unread. Failures that may pass raise `_Again`."""
        with _network(link):
            response = self._follow(link, headers)
        try:
            if response.status_code in TRANSIENT:
                raise _Again(Refused(_detached(response)), _asked_to_wait(response))
            if response.status_code not in (200, 206):
                response = _detached(response)
                if link.found_at and response.status_code in (401, 403, 404, 410):
                    link.found_at = None
                    raise _Again(Refused(response), 0)
            yield response
        finally:
            response.close()

    def _follow(self, link: Link, headers: Mapping[str, str]) -> Response:
        """The first answer that is no redirect. The token is left behind at the first step away from home."""
        url, at_home = link.found_at or link.url, link.found_at is None or link.found_home
        for _ in range(MAX_REDIRECTS + 1):
            at_home = at_home and _origin(url) == self._home
            response = self._send(url, {**headers, **(self._credentials if at_home else {})})
            if not response.has_redirect_location:
                if url != link.url and response.status_code in (200, 206):
                    link.found_at, link.found_home = url, at_home
                return response
            target = urljoin(url, response.headers["location"])
            _finish(response)
            _check_redirect(url, target)
            url = target
        raise SourceError(f"{place_of(link.url)}: more than {MAX_REDIRECTS} redirects, which seem to go in a circle")

    def _send(self, url: str, headers: Mapping[str, str]) -> Response:
        from httpx2 import Timeout  # noqa: PLC0415
        from huggingface_hub import constants  # noqa: PLC0415
        from huggingface_hub.utils import get_session  # noqa: PLC0415

        session = get_session()
        timeout = Timeout(constants.HF_HUB_DOWNLOAD_TIMEOUT, connect=CONNECT_TIMEOUT, pool=None)
        request = session.build_request("GET", url, headers=dict(headers), timeout=timeout)
        with self._lock:
            self.requests += 1
        response = session.send(request, stream=True, follow_redirects=False)
        if response.has_redirect_location:
            with self._lock:
                self.requests -= 1
                self.redirects += 1
        return response

    def _body(self, response: Response, limit: int, counted: bool, exact: bool = False) -> Iterator[bytes]:
        """At most `limit` bytes, or exactly as many. More, or slower than `SLOWEST`, is an error; less is tried again."""
        where, left, waited = place_of(str(response.url)), limit, 0.0
        link, chunks = Link(str(response.url)), response.iter_raw()
        while True:
            began = monotonic()
            with _network(link):
                chunk = next(chunks, None)
            waited += monotonic() - began
            if chunk is None:
                break
            left -= len(chunk)
            if counted:
                with self._lock:
                    self.bytes_read += len(chunk)
            if left < 0:
                raise SourceError(f"{where} sends more than the {plural(limit, 'byte')} that it may")
            if waited > PATIENCE + (limit - left) / SLOWEST:
                raise SourceError(f"{where} sends too slowly: {plural(limit - left, 'byte')} in {waited:.0f} seconds")
            yield chunk
        if exact and left:
            raise _Again(SourceError(f"{where} stops {plural(left, 'byte')} short of what it announced"))


@contextmanager
def _network(link: Link) -> Iterator[None]:
    """The network's failures as ours: `_Again` for those that may pass, SourceError for the others."""
    import httpx2  # noqa: PLC0415  0.1 s, and only where there is a network to use
    from huggingface_hub.errors import OfflineModeIsEnabled  # noqa: PLC0415

    where = place_of(link.found_at or link.url)
    try:
        yield
    except httpx2.InvalidURL as error:
        raise SourceError(f"{where}: not a URL that can be asked: {_reason(error)}") from error
    except (httpx2.UnsupportedProtocol, httpx2.DecodingError) as error:
        raise SourceError(f"{where}: {_reason(error)}") from error
    except httpx2.TransportError as error:
        raise _Again(Unreachable(f"{where}: {_reason(error)}")) from error
    except OfflineModeIsEnabled as error:
        raise Unreachable(f"{where} was not asked: offline mode is on (HF_HUB_OFFLINE)") from error


def _checked_range(response: Response, link: Link, start: int, end: int) -> int:
    """How many bytes the body must have. Learns the file's size, and holds the server to it."""
    where = place_of(str(response.url))
    if response.status_code == 416 and start == 0 and _EMPTY_FILE.fullmatch(response.headers.get("content-range", "")):
        total, got = 0, 0
    elif response.status_code == 200:
        # The answer to a range that covers the whole file may leave the range out (RFC 9110, 14.2).
        length = response.headers.get("content-length", "")
        if start or not length.isdecimal() or int(length[:19]) > end:
            raise SourceError(
                f"{where} ignores range requests, and would send the whole file: download it, and inspect it here"
            )
        total = got = int(length)
    elif response.status_code != 206:
        raise Refused(response)
    else:
        total, got = _content_range(response, where, start, end)
    if link.size is not None and link.size != total:
        raise SourceError(
            f"{where}: the file has {integer(total)} bytes where {integer(link.size)} were announced: it was "
            "replaced meanwhile, or is broken there"
        )
    etag = response.headers.get("etag")
    if link.etag and etag and etag != link.etag:
        raise SourceError(f"{where}: the file was replaced while it was read: try again")
    link.size, link.etag = total, etag or link.etag
    return got


def _content_range(response: Response, where: str, start: int, end: int) -> tuple[int, int]:
    """(file size, bytes in this answer) as `Content-Range` says. Raises SourceError for another range than asked."""
    said = response.headers.get("content-range", "")
    match = _CONTENT_RANGE.fullmatch(said)
    first, last, total = (int(group) for group in match.groups()) if match else (-1, -1, -1)
    if (
        first != start
        or last != min(end, total) - 1
        or response.headers.get("content-encoding", "identity") != "identity"
    ):
        raise SourceError(
            f"{where} answers bytes {integer(start)} to {integer(end - 1)} with another range: `{escape(said, 60)}`"
        )
    return total, last + 1 - first


def _decoded(chunks: Iterator[bytes], response: Response, limit: int) -> Iterator[bytes]:
    """Gzip undone, never beyond `limit` bytes: httpx would decode a bomb in one piece."""
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise SourceError(f"{place_of(str(response.url))} sends `{escape(encoding, 40)}`, which was not asked for")
    if encoding == "identity":
        yield from chunks
        return
    unpack, left = zlib.decompressobj(wbits=31), limit
    try:
        for chunk in chunks:
            plain = unpack.decompress(chunk, left + 1)
            left -= len(plain)
            if left < 0:
                raise SourceError(f"{place_of(str(response.url))} sends more than {plural(limit, 'byte')}, unpacked")
            yield plain
    except zlib.error as error:
        raise _Again(SourceError(f"{place_of(str(response.url))} sends broken gzip")) from error
    if not unpack.eof:
        raise _Again(SourceError(f"{place_of(str(response.url))} stops in the middle of its answer"))


def _detached(response: Response) -> Response:
    """The same answer with its body read up to `SMALL_BODY`, free of its connection."""
    from httpx2 import Response as Detached  # noqa: PLC0415

    body = _short_body(response)
    drop = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in drop]
    return Detached(response.status_code, headers=headers, content=body, request=response.request)


def _finish(response: Response) -> None:
    """Let go of a redirect. A short body is read, for the connection can then be used again."""
    length = response.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 6 and int(length) <= SMALL_BODY:
        _short_body(response)
    response.close()


def _short_body(response: Response) -> bytes:
    """What comes of a body whose content hardly matters, up to `SMALL_BODY`; then the answer is closed."""
    from httpx2 import HTTPError  # noqa: PLC0415

    body, began = b"", monotonic()
    try:
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > SMALL_BODY or monotonic() - began > PATIENCE:
                break
    except HTTPError:
        pass  # the status says enough
    response.close()
    return body[:SMALL_BODY]


def _check_redirect(url: str, target: str) -> None:
    source, scheme = urlsplit(url).scheme, urlsplit(target).scheme
    if scheme not in ("http", "https") or (source == "https" and scheme == "http"):
        raise SourceError(f"{place_of(url)} redirects to `{escape(scheme, 20)}:`, which is not followed")


def _asked_to_wait(response: Response) -> float | None:
    """Seconds that the server asks for, by the Hub's `RateLimit` header or by `Retry-After` (RFC 9110, 10.2.3)."""
    from huggingface_hub.utils import parse_ratelimit_headers  # noqa: PLC0415

    limit = parse_ratelimit_headers(response.headers) if response.status_code == 429 else None
    if limit and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    asked = response.headers.get("retry-after", "").strip()
    if asked.isdecimal():
        return float(asked[:9])
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time()) if asked else None
    except (ValueError, TypeError, OverflowError):
        return None


def place_of(url: str) -> str:
    """A URL for people: without user, password, query and fragment, where secrets are."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    return escape(f"{parts.scheme}://{host}{port}{parts.path}", 300)


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError as error:
        raise SourceError(f"{escape(url, 200)}: not a URL that can be asked") from error


def _reason(error: Exception) -> str:
    """One line of what the network said; httpx leaves it empty for time-outs."""
    import httpx2  # noqa: PLC0415

    if isinstance(error, httpx2.ConnectTimeout):
        return "no connection within the time limit"
    if isinstance(error, httpx2.TimeoutException):
        return "no answer within the time limit"
    return escape(" ".join(str(error).split()) or type(error).__name__, 200)


def answered(response: Response) -> str:
    """A refusal in words: status and, where the server gives one, its reason."""
    said = response.headers.get("x-error-message") or ""
    return f"{response.status_code} {response.reason_phrase}" + (
        f": {escape(' '.join(said.split()), 200)}" if said else ""
    )


def as_error(refused: Refused, where: str) -> InspectorError:
    """For places that have nothing more to say about a refusal."""
    kind = TargetError if refused.response.status_code in (404, 410) else SourceError
    return kind(f"{where} answered {answered(refused.response)}")
