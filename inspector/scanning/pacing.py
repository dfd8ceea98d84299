"""One pace for all workers: the scheduler decides how long each waits before a request.

Only its clock counts, and it sends seconds to wait, because workers' clocks may differ.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

#: The scheduler's handler that workers call.
HANDLER = "inspect_scan_pace"
#: The longest pause, in seconds, that a server may ask for: longer ones are not believed.
LONGEST_PAUSE = 900.0


class Turns:
    """Turns to send a request, evenly spaced for each server."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}  # server → when the next request may be sent

    def wait(self, server: str, per_second: float, now: float) -> float:
        """Take the next turn and return the seconds until then."""
        at = max(now, self._next.get(server, now))
        self._next[server] = at + 1 / per_second
        return at - now

    def pause(self, server: str, seconds: float, now: float) -> None:
        """Grant no turn before this many seconds have passed."""
        until = now + min(max(seconds, 0.0), LONGEST_PAUSE)
        self._next[server] = max(self._next.get(server, now), until)


class PacePlugin:
    """A Dask scheduler plugin that assigns turns."""

    idempotent = True  # several scans on one scheduler share one pace
    name = HANDLER

    async def start(self, scheduler: Any) -> None:
        turns = Turns()

        def answer(server: str, per_second: float, seconds: float | None = None) -> float:
            if seconds is not None:
                turns.pause(server, seconds, monotonic())
                return 0.0
            return turns.wait(server, per_second, monotonic())

        scheduler.handlers[HANDLER] = answer


def through_scheduler(per_second: float, server: str, seconds: float | None) -> float:
    """Ask the scheduler of the worker that runs this call: seconds to wait before one request to a server."""
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()
    ask = getattr(worker.scheduler, HANDLER)
    wait: float = sync(worker.loop, ask, server=server, per_second=per_second, seconds=seconds)
    return wait
