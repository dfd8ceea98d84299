"""Limits on one target: processor time and memory, whatever its files say.

The readers and rules have their own limits wherever an untrusted number determines the work. This is the last line of
defence: work that exceeds it is stopped, and what was not judged is a finding.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

#: Seconds of processor time for any target, per megabyte of it, and at most: a typical model takes a tenth of the
#: first.
SECONDS, SECONDS_PER_MEGABYTE, MOST_SECONDS = 1.2, 0.5, 120.0
#: Bytes of memory for any target, per byte of it, and at most.
MEMORY, MEMORY_PER_BYTE, MOST_MEMORY = 125_000_000, 4, 1_000_000_000


class Exceeded(BaseException):
    """A target's time is used up. Not an `Exception`: handlers of a file's faults must not catch it."""


def seconds_for(size: int) -> float:
    """Processor time for a target of this many bytes."""
    return min(MOST_SECONDS, SECONDS + SECONDS_PER_MEGABYTE * size / 1_000_000)


def memory_for(size: int) -> int:
    """Bytes of memory for a target of this many bytes."""
    return min(MOST_MEMORY, MEMORY + MEMORY_PER_BYTE * size)


@contextmanager
def work(seconds: float, size: int, *, own_process: bool) -> Iterator[None]:
    """Limits the work inside the context to this processor time, and to the memory for a target of `size` bytes.

    Args:
        own_process: whether the whole process may be limited in its memory.
    """
    with processor_time(seconds), memory(memory_for(size)) if own_process else nullcontext():
        yield


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Raises Exceeded inside the context after this many seconds of work; waiting for a disk or network does not count.

    Requires signals: the main thread of a Unix program that does not use this signal itself.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable or signal.getsignal(signal.SIGVTALRM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGVTALRM, _stop)
    try:
        # Repeated: an exception in a finalizer is printed and ignored.
        signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 0.01), 0.2)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Exceeded


@contextmanager
def memory(nbytes: int) -> Iterator[None]:
    """Raises MemoryError inside the context if more than this is needed. It limits the whole process."""
    in_use = _in_use()
    if in_use is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = in_use + nbytes
    if soft != resource.RLIM_INFINITY:
        most = min(most, soft)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _in_use() -> int | None:
    """Bytes that count towards the system's limit on data; None if the system does not report them."""
    if sys.platform != "linux":
        return None
    try:
        import resource

        with open("/proc/self/statm", "rb", buffering=0) as pages:  # noqa: PTH123  read twice for each target
            return int(pages.read(200).split()[5]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return None
