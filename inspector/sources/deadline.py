"""A limit for the whole of an answer's head, which the client library bounds only from one byte to the next.

A server may send a byte of the head now and then, or interim answers (100 Continue) without end: both keep every
time-out of a single read from running out, the second a processor busy too.
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
    """The time is over, and nothing came of it."""


class Sockets:
    """The connections that one request opened, to be ended from another thread."""

    def __init__(self) -> None:
        self._streams: list[Any] = []

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """What the client library calls at each of its steps (`extensions={"trace": …}`)."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._streams.append(info.get("return_value"))

    def end(self) -> None:
        """Whoever reads from one of them learns that it has ended."""
        for stream in self._streams:
            with suppress(OSError, AttributeError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def within(seconds: float, work: Callable[[], Answer], late: Callable[[Answer], object], sockets: Sockets) -> Answer:
    """What `work` gives or raises, in a thread of its own that nobody waits for longer than that.

    Args:
        late: what to do with an answer that comes when nobody waits any more.

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
        except BaseException as error:  # raised where somebody waits for it
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
    return answer  # type: ignore[return-value]  # one of the two is there
