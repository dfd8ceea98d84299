"""Who is asked before a request is sent, where several programs keep within one server's limits.

Nobody, unless a scan says so: then its workers wait their turn, and all of them while a server asks one to wait.
"""

from __future__ import annotations

from typing import Protocol


class Pace(Protocol):
    """What many share."""

    def before(self, server: str) -> None:
        """Wait until one more request may be sent."""

    def refused(self, server: str, seconds: float) -> None:
        """A server asks for so much time without requests."""


_shared: list[Pace] = []


def share(pace: Pace) -> None:
    """Ask `pace` from now on, in this process."""
    _shared[:] = [pace]


def before(server: str) -> None:
    """One request is about to be sent."""
    for pace in _shared:
        pace.before(server)


def refused(server: str, seconds: float) -> None:
    """A server wants no requests for a while."""
    for pace in _shared:
        pace.refused(server, seconds)
