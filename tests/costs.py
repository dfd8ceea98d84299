"""The cost of a piece of work, counted in function calls, so that neither a slow nor a busy machine changes it."""

from __future__ import annotations

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds of waiting after which something counts as hanging, even on the busiest machine.
HANGS = 300


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail if the block calls more functions than this, counting Python's and C's."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
    counted = sum(each.callcount for each in profile.getstats())
    assert counted <= calls, f"{counted:,} calls"
