"""HTTP for an inspector: small reads, bounded, counted and retried; the token goes to its own host only.

`Wire` sends the requests of one place through the session of `huggingface_hub`, so that its configuration of proxies,
certificates and offline mode applies. `remote.RemoteFile` reads a file through it.

The client library only bounds the gap between two bytes. A server may send a byte of the headers now and then, or
interim responses (100 Continue) endlessly: neither ever triggers a time-out of a single read, and the latter keeps a
processor busy as well. So all of a response's headers have a time limit, too.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from inspector.errors import NetworkError
from inspector.sources import workers
from inspector.sources.answers import (
    PATIENCE,
    Link,
    RefusedError,
    TryAgainError,
    asked_to_wait,
    checked_range,
    client_library,
    finish,
    network,
    origin_of,
    redirect_target,
    shown_url,
    unpacked,
    without_connection,
)
from inspector.units import plural

if TYPE_CHECKING:
    from httpx2 import Response

#: Status codes worth a retry (the same as `huggingface_hub`'s).
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
TRIES = 5
FIRST_WAIT = 0.5  # seconds; doubles with each try
LONGEST_WAIT = 60.0  # seconds; we give up on a server that asks for more
MAX_REDIRECTS = 10
CONNECT_TIMEOUT = 10.0  # seconds
SLOWEST = 20_000  # bytes a second, once `PATIENCE` has passed: slower transfers are given up

Answer = TypeVar("Answer")


class Wire:
    """The requests of one place. Safe to use from several threads."""

    def __init__(self, home: str = "", credentials: Mapping[str, str] | None = None) -> None:
        """`credentials` are headers sent to the scheme, host and port of `home` only."""
        self.requests = 0  # sent, redirects included
        self.redirects = 0  # followed
        self.bytes_read = 0  # of bodies, as received
        self._home = origin_of(home)
        self._credentials = dict(credentials or {})
        self._lock = Lock()
        self._closed = Event()

    def close(self) -> None:
        """Wake whoever waits for a retry."""
        self._closed.set()

    def get(self, url: str, limit: int, tries: int = TRIES, counted: bool = True) -> tuple[bytes, Response]:
        """A whole small body and the response's headers.

        Raises:
            NetworkError: over `limit` bytes, or unavailable.
            RefusedError: a response other than 200.
        """
        return self._retry(lambda: self._get(url, limit, counted), tries)

    def _get(self, url: str, limit: int, counted: bool) -> tuple[bytes, Response]:
        with self._answer(Link(url), {"accept-encoding": "gzip"}) as response:
            if response.status_code != 200:
                raise RefusedError(response)
            body = b"".join(unpacked(self._body(response, limit, counted), response, limit))
            return body, response

    @contextmanager
    def ranged(self, link: Link, start: int, end: int) -> Iterator[Iterator[bytes]]:
        """The bytes [start, end) of a file, as they arrive; fewer if the file is shorter.

        Raises:
            NetworkError: the server does not support ranges, or sends a different one.
            RefusedError: a response other than the range.
        """
        headers = {"accept-encoding": "identity", "range": f"bytes={start}-{end - 1}"}
        with self._answer(link, headers) as response:
            length = checked_range(response, link, start, end)
            yield self._body(response, length, True, exact=True) if length else iter(())

    def _retry(self, attempt: Callable[[], Answer], tries: int = TRIES) -> Answer:
        """Calls `attempt`, again while it fails transiently."""
        wait = FIRST_WAIT
        for left in reversed(range(tries)):
            try:
                return attempt()
            except TryAgainError as again:
                asked = again.wait if again.wait is not None else wait
                if again.wait:
                    workers.pause(self._home[1], again.wait)
                if not left or asked > LONGEST_WAIT:
                    raise again.final from again
                if self._closed.wait(asked):
                    raise NetworkError("stopped while waiting for a server") from again
                wait *= 2
        raise AssertionError("unreachable: the last try raises")

    def retry(self, attempt: Callable[[], Answer]) -> Answer:
        """Retry for a caller that keeps what an interrupted `ranged` returned, and requests the rest."""
        return self._retry(attempt)

    @contextmanager
    def _answer(self, link: Link, headers: Mapping[str, str]) -> Iterator[Response]:
        """The response with redirects followed and its body unread. Transient failures raise `TryAgainError`."""
        with network(link):
            response = self._follow(link, headers)
        try:
            if response.status_code in TRANSIENT:
                raise TryAgainError(RefusedError(without_connection(response)), asked_to_wait(response))
            if response.status_code not in (200, 206):
                response = without_connection(response)
                if link.found_at and response.status_code in (401, 403, 404, 410):
                    link.found_at = link.etag = None
                    raise TryAgainError(RefusedError(response), 0)
            yield response
        finally:
            response.close()

    def _follow(self, link: Link, headers: Mapping[str, str]) -> Response:
        """The first response that is not a redirect. The token is dropped at the first redirect to another origin."""
        url, at_home = link.found_at or link.url, link.found_at is None or link.found_home
        for _ in range(MAX_REDIRECTS + 1):
            at_home = at_home and origin_of(url) == self._home
            response = self._send(url, {**headers, **(self._credentials if at_home else {})})
            if not response.has_redirect_location:
                if url != link.url and response.status_code in (200, 206):
                    link.found_at, link.found_home = url, at_home
                return response
            finish(response)
            url = redirect_target(url, response.headers["location"])
        raise NetworkError(f"{shown_url(link.url)}: more than {MAX_REDIRECTS} redirects, which seem to go in a circle")

    def _send(self, url: str, headers: Mapping[str, str]) -> Response:
        from huggingface_hub import constants
        from huggingface_hub.utils import get_session

        session = get_session()
        timeout = client_library().Timeout(constants.HF_HUB_DOWNLOAD_TIMEOUT, connect=CONNECT_TIMEOUT, pool=None)
        sockets = Sockets()
        request = session.build_request(
            "GET", url, headers=dict(headers), timeout=timeout, extensions={"trace": sockets.trace}
        )
        workers.wait_for_turn(self._home[1])
        with self._lock:
            self.requests += 1
        send: Callable[[], Response] = lambda: session.send(request, stream=True, follow_redirects=False)  # noqa: E731
        try:
            response = within(PATIENCE, send, lambda answer: answer.close(), sockets)
        except PassedError:
            raise NetworkError(f"{shown_url(url)} does not begin to respond within {PATIENCE:.0f} seconds") from None
        if response.has_redirect_location:
            with self._lock:
                self.requests -= 1
                self.redirects += 1
        return response

    def _body(self, response: Response, limit: int, counted: bool, exact: bool = False) -> Iterator[bytes]:
        """At most `limit` bytes, or exactly that many. Too many or too slow is an error; too few is retried."""
        where, left, waited = shown_url(str(response.url)), limit, 0.0
        link, chunks = Link(str(response.url)), response.iter_raw()
        while True:
            began = monotonic()
            with network(link):
                chunk = next(chunks, None)
            waited += monotonic() - began
            if chunk is None:
                break
            left -= len(chunk)
            if counted:
                with self._lock:
                    self.bytes_read += len(chunk)
            if left < 0:
                raise NetworkError(f"{where} sends more than the {plural(limit, 'byte')} allowed")
            if waited > PATIENCE + (limit - left) / SLOWEST:
                raise NetworkError(f"{where} sends too slowly: {plural(limit - left, 'byte')} in {waited:.0f} seconds")
            yield chunk
        if exact and left:
            raise TryAgainError(NetworkError(f"{where} stops {plural(left, 'byte')} short of what it announced"))


# --- a time limit for the headers ----------------------------------------------------------------


class PassedError(Exception):
    """The time limit passed without a result."""


class Sockets:
    """The connections that one request opened, so that another thread can close them."""

    def __init__(self) -> None:
        self._streams: list[Any] = []

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """What the client library calls at each of its steps (`extensions={"trace": …}`)."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._streams.append(info.get("return_value"))

    def end(self) -> None:
        """Close them: a thread that reads from one sees it end."""
        for stream in self._streams:
            with suppress(OSError, AttributeError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def within(seconds: float, work: Callable[[], Answer], late: Callable[[Answer], object], sockets: Sockets) -> Answer:
    """The result or exception of `work`, which runs in its own thread and is abandoned after the time limit.

    Args:
        late: called with a result that arrives after the time limit.

    Raises:
        PassedError: it took longer. Where there are no threads, nothing limits it: a browser has its own time-out.
    """
    if not workers.THREADS:
        return work()
    done: SimpleQueue[tuple[Answer | None, BaseException | None]] = SimpleQueue()
    over, ready = Event(), Event()

    def run() -> None:
        answer: Answer | None = None
        failure: BaseException | None = None
        try:
            answer = work()
        except BaseException as error:  # raised in the waiting thread
            failure = error
        done.put((answer, failure))
        ready.set()
        if over.is_set() and answer is not None:
            late(answer)

    Thread(target=run, daemon=True).start()
    if not ready.wait(seconds):
        over.set()
        sockets.end()
        raise PassedError
    answer, failure = done.get()
    if failure is not None:
        raise failure
    return answer  # type: ignore[return-value]  # one of the two is set
