"""Work on many files at once, in threads that never delay the program's exit; and the pace of several programs.

Paced requests stay within one server's limits, whichever of the programs sends them. Only a scan sets a pace: then its
workers take turns, and all of them wait when a server asks one to.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue

#: Whether this Python can start threads: in a browser it cannot.
THREADS = sys.platform != "emscripten"

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int, done: Callable[[], object] = lambda: None
) -> list[Result]:
    """`function` of every item, in order; at most `workers` at a time. `done` is called after each.

    The first exception is raised at once, and remaining items are not started. The threads are daemons, unlike those
    of `concurrent.futures`: Ctrl-C leaves without waiting for a slow server.
    """
    if workers <= 1 or len(items) <= 1 or not THREADS:
        return [_with(function(item), done) for item in items]
    from queue import SimpleQueue  # local files are read one after another, without threads
    from threading import Thread

    todo = deque(enumerate(items))
    finished: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()
    for _ in range(min(workers, len(items))):
        Thread(target=_work, args=(function, todo, finished), daemon=True).start()
    results: dict[int, Result] = {}
    while len(results) < len(items):
        number, result, error = finished.get()
        if error is not None:
            todo.clear()
            raise error
        results[number] = result  # type: ignore[assignment]  # set unless there was an error
        done()
    return [results[number] for number in range(len(items))]


def _with(result: Result, done: Callable[[], object]) -> Result:
    done()
    return result


def _work(
    function: Callable[[Item], Result],
    todo: deque[tuple[int, Item]],
    finished: SimpleQueue[tuple[int, Result | None, BaseException | None]],
) -> None:
    while True:
        try:
            number, item = todo.popleft()
        except IndexError:
            return
        try:
            finished.put((number, function(item), None))
        except BaseException as error:  # re-raised where the results are collected
            finished.put((number, None, error))


# --- the pace of several programs -----------------------------------------------------------------


class Pace(Protocol):
    """A pace that several programs share."""

    def before(self, server: str) -> None:
        """Wait until one more request may be sent."""

    def refused(self, server: str, seconds: float) -> None:
        """A server asked for a pause of this length."""


_shared: list[Pace] = []


def share_pace(pace: Pace) -> None:
    """Use `pace` from now on, in this process."""
    _shared[:] = [pace]


def wait_for_turn(server: str) -> None:
    """Wait for this program's turn; to be called before each request."""
    for pace in _shared:
        pace.before(server)


def pause(server: str, seconds: float) -> None:
    """Pass on a pause that a server asks for."""
    for pace in _shared:
        pace.refused(server, seconds)
