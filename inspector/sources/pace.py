"""Paces requests so that several programs together stay within one server's limits.

Inactive unless a scan sets it: then its workers take turns, and all of them wait when a server asks one to.
"""

from __future__ import annotations

from typing import Protocol


class Pace(Protocol):
    """A pace that several programs share."""

    def before(self, server: str) -> None:
        """Wait until one more request may be sent."""

    def refused(self, server: str, seconds: float) -> None:
        """A server asked for a pause of this length."""


_shared: list[Pace] = []


def share(pace: Pace) -> None:
    """Use `pace` from now on, in this process."""
    _shared[:] = [pace]


def before(server: str) -> None:
    """Call before sending a request."""
    for pace in _shared:
        pace.before(server)


def refused(server: str, seconds: float) -> None:
    """Call when a server asks for a pause."""
    for pace in _shared:
        pace.refused(server, seconds)
