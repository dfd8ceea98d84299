"""What a piece of work costs, counted in calls of functions: no machine is too slow for it, and none too busy."""

from __future__ import annotations

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds of waiting after which something hangs, on the busiest machine.
HANGS = 300


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fails where the block calls more functions than that, Python's or C's."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
    counted = sum(each.callcount for each in profile.getstats())
    assert counted <= calls, f"{counted:,} calls"
