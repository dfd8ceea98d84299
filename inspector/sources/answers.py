"""Checks that an HTTP response is usable: the requested range, bounded, and of the same file throughout.

Nothing a server says is trusted. A response that does not fit raises NetworkError; one that may succeed on a retry
raises TryAgainError.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from importlib import import_module
from time import monotonic, time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from inspector.errors import InspectorError, NetworkError, TargetError
from inspector.units import escape, integer, plural

if TYPE_CHECKING:
    from httpx2 import Response

PATIENCE = 30.0  # seconds that any response may take
SMALL_BODY = 65_536  # bytes of an unwanted body that are read so that the connection can be kept

_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})")
_EMPTY_FILE = re.compile(r"bytes \*/0")


def client_library() -> Any:
    """The library behind `huggingface_hub`'s session: `httpx2`, or `httpx` before version 2."""
    from huggingface_hub.utils import get_session  # 0.2 s, and only when the network is used

    return import_module(type(get_session()).__module__.partition(".")[0])


class RefusedError(Exception):
    """The server's final response is not the requested one. `response` has its body, truncated at `SMALL_BODY`."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class UnreachableError(NetworkError):
    """The server was not reached. `sentence` says why, without the address."""

    def __init__(self, message: str, sentence: str = "") -> None:
        super().__init__(message)
        self.sentence = sentence


class TryAgainError(Exception):
    """Worth retrying, after `wait` seconds if the server says so; `final` is raised after the last try."""

    def __init__(self, final: Exception, wait: float | None = None) -> None:
        super().__init__(str(final))
        self.final = final
        self.wait = wait


@dataclass(slots=True)
class Link:
    """The location of one file. Once a redirect is known, its target is requested directly."""

    url: str
    size: int | None = None  # bytes; None until a server has reported it
    etag: str | None = None
    found_at: str | None = None  # after redirects; signed for an hour or so, and forgotten when refused
    found_home: bool = True  # no redirect has left the origin that the credentials are for


@contextmanager
def network(link: Link) -> Iterator[None]:
    """Translates network failures: `TryAgainError` for transient ones, NetworkError for the rest."""
    library = client_library()
    from huggingface_hub.errors import OfflineModeIsEnabled

    where = shown_url(link.found_at or link.url)
    try:
        yield
    except library.InvalidURL as error:
        raise NetworkError(f"{where}: not a URL that can be requested: {_reason(error)}") from error
    except (library.UnsupportedProtocol, library.DecodingError) as error:
        raise NetworkError(f"{where}: {_reason(error)}") from error
    except (library.ConnectError, library.ConnectTimeout, library.ProxyError) as error:
        sentence = unreached(error, where)
        raise UnreachableError(f"{where}: {sentence}", sentence) from error  # usually there is no network: no retry
    except library.TransportError as error:
        raise TryAgainError(NetworkError(f"{where}: {_reason(error)}")) from error
    except OfflineModeIsEnabled as error:
        sentence = "offline mode is on (HF_HUB_OFFLINE), so it was not requested"
        raise UnreachableError(f"{where}: {sentence}", sentence) from error


def checked_range(response: Response, link: Link, start: int, end: int) -> int:
    """The number of bytes the body must have. Learns the file's size and checks later responses against it."""
    where = shown_url(str(response.url))
    if response.status_code == 416 and start == 0 and _EMPTY_FILE.fullmatch(response.headers.get("content-range", "")):
        total, got = 0, 0
    elif response.status_code == 200:
        # A response to a range that covers the whole file may omit the range (RFC 9110, 14.2).
        length = response.headers.get("content-length", "")
        if start or not length.isdecimal() or int(length[:19]) > end:
            raise NetworkError(
                f"{where} ignores range requests and would send the whole file: download it and inspect it locally"
            )
        total = got = int(length)
    elif response.status_code != 206:
        raise RefusedError(response)
    else:
        total, got = _content_range(response, where, start, end)
    if link.size is not None and link.size != total:
        raise NetworkError(
            f"{where}: the file has {integer(total)} bytes, but {integer(link.size)} were announced: it was "
            "replaced in the meantime, or is broken there"
        )
    etag = response.headers.get("etag")
    if link.etag and etag and etag != link.etag:
        raise NetworkError(f"{where}: the file was replaced while it was being read: try again")
    link.size, link.etag = total, etag or link.etag
    return got


def _content_range(response: Response, where: str, start: int, end: int) -> tuple[int, int]:
    """(file size, bytes in this response) by `Content-Range`. Raises NetworkError if the range is another one."""
    stated = response.headers.get("content-range", "")
    match = _CONTENT_RANGE.fullmatch(stated)
    first, last, total = (int(group) for group in match.groups()) if match else (-1, -1, -1)
    coding = response.headers.get("content-encoding", "identity")
    if coding != "identity":
        raise NetworkError(f"{where} sends a range as `{escape(coding, 40)}`, which was not requested")
    if first != start or last != min(end, total) - 1:
        asked = f"bytes {integer(start)} to {integer(end - 1)}"
        raise NetworkError(f"{where} was asked for {asked} and sent another range: `{escape(stated, 60)}`")
    return total, last + 1 - first


def unpacked(chunks: Iterator[bytes], response: Response, limit: int) -> Iterator[bytes]:
    """Decompresses gzip up to `limit` bytes: httpx would decode a bomb in one piece."""
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise NetworkError(f"{shown_url(str(response.url))} sends `{escape(encoding, 40)}`, which was not requested")
    if encoding == "identity":
        yield from chunks
        return
    unpack, left = zlib.decompressobj(wbits=31), limit
    try:
        for chunk in chunks:
            plain = unpack.decompress(chunk, left + 1)
            left -= len(plain)
            if left < 0:
                raise NetworkError(f"{shown_url(str(response.url))} sends more than {plural(limit, 'byte')}, unpacked")
            yield plain
    except zlib.error as error:
        raise TryAgainError(NetworkError(f"{shown_url(str(response.url))} sends broken gzip")) from error
    if not unpack.eof:
        raise TryAgainError(NetworkError(f"{shown_url(str(response.url))} stops in the middle of its response"))


def without_connection(response: Response) -> Response:
    """The same response with its body read up to `SMALL_BODY`, detached from its connection."""
    body = _short_body(response)
    drop = (b"content-encoding", b"content-length", b"transfer-encoding")
    # As bytes: a header may be in any encoding.
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in drop]
    detached: Response = client_library().Response(
        response.status_code, headers=headers, content=body, request=response.request
    )
    return detached


def finish(response: Response) -> None:
    """Finish a redirect. A short body is read so that the connection can be reused."""
    length = response.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 6 and int(length) <= SMALL_BODY:
        _short_body(response)
    response.close()


def _short_body(response: Response) -> bytes:
    """Up to `SMALL_BODY` bytes of a body whose content hardly matters; then the response is closed."""
    body, began = b"", monotonic()
    try:
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > SMALL_BODY or monotonic() - began > PATIENCE:
                break
    except client_library().HTTPError:
        pass  # the status is enough
    response.close()
    return body[:SMALL_BODY]


def redirect_target(url: str, location: str) -> str:
    """The target of a redirect. Raises NetworkError for those not followed: other schemes, and https to http."""
    try:
        target = urljoin(url, location)
        source, scheme = urlsplit(url).scheme, urlsplit(target).scheme
    except ValueError as error:
        raise NetworkError(
            f"{shown_url(url)} redirects to `{escape(location, 60)}`, which is not an address"
        ) from error
    if scheme not in ("http", "https") or (source == "https" and scheme == "http"):
        raise NetworkError(f"{shown_url(url)} redirects to `{escape(scheme, 20)}:`, which is not followed")
    return target


def asked_to_wait(response: Response) -> float | None:
    """Seconds that the server asks for, by the Hub's `RateLimit` header or by `Retry-After` (RFC 9110, 10.2.3)."""
    from huggingface_hub.utils import parse_ratelimit_headers

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


def shown_url(url: str) -> str:
    """A URL for display: without user, password, query and fragment, which may contain secrets."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an invalid address"
    return escape(f"{parts.scheme}://{host}{port}{parts.path}", 300)


def origin_of(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError as error:
        raise NetworkError(f"{escape(url, 200)}: not a URL that can be requested") from error


#: Words in the message of a failed connection → the sentence about the server for people. Messages are those of the C
#: library, of Windows (`getaddrinfo failed`) and of OpenSSL.
_UNREACHED = (
    (
        "name or service|name resolution|nodename nor servname|getaddrinfo|no address associated",
        "there is no network: the name {} cannot be looked up",
    ),
    ("unreachable|network is down|no route", "there is no network: {} cannot be reached"),
    ("refused", "{} refuses the connection: is it running, and is the address right?"),
    ("time limit", "{} does not answer: there may be no network"),
    (
        "certificate|ssl|tls",
        "the certificate of {} is not accepted; SSL_CERT_FILE names the one of a company's own network",
    ),
)


def unreached(error: Exception, url: str) -> str:
    """Why there is no connection, in a sentence; what the library says, where its words are not known."""
    from urllib.request import getproxies, proxy_bypass

    with suppress(AttributeError, RuntimeError):  # the server that a redirect led to; not all errors have a request
        url = str(error.request.url)  # type: ignore[attr-defined]
    reason, (scheme, host, port) = _reason(error), origin_of(url)
    if isinstance(error, client_library().ProxyError):
        return f"the proxy does not let the request through ({reason})"
    if (proxy := getproxies().get(scheme)) and not proxy_bypass(host):
        server = f"the proxy {shown_url(proxy)}"
    else:
        host = f"[{host}]" if ":" in host else host
        server = host if port in (80, 443) else f"{host}:{port}"
    known = (sentence for words, sentence in _UNREACHED if re.search(words, reason, re.IGNORECASE))
    return next(known, reason).format(escape(server, 200))


def _reason(error: Exception) -> str:
    """The network error in one line; httpx leaves it empty for time-outs."""
    library = client_library()
    if isinstance(error, library.ConnectTimeout):
        return "no connection within the time limit"
    if isinstance(error, library.TimeoutException):
        return "no answer within the time limit"
    return escape(" ".join(str(error).split()) or type(error).__name__, 200)


def status_of(response: Response) -> str:
    """A refusal in words: status and, where the server gives one, its reason."""
    reason = response.headers.get("x-error-message") or ""
    return f"{response.status_code} {response.reason_phrase}" + (
        f": {escape(' '.join(reason.split()), 200)}" if reason else ""
    )


def as_error(refused: RefusedError, where: str) -> InspectorError:
    """For places with no more specific explanation of a refusal."""
    kind = TargetError if refused.response.status_code in (404, 410) else NetworkError
    return kind(f"{where} answered {status_of(refused.response)}")
