"""A time limit for all of a response's headers; the client library only bounds the gap between two bytes.

A server may send a byte of the headers now and then, or interim responses (100 Continue) endlessly: neither ever
triggers a time-out of a single read, and the latter keeps a processor busy as well.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, TypeVar

Answer = TypeVar("Answer")


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
        PassedError: it took longer.
    """
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
