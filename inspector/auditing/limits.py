"""Limits on what an audit reads, and on the time and memory that one target may take.

All are far above what real models need: hostile input must not take long. The readers and rules have their own limits
wherever an untrusted number determines the work; those on time and memory are the last line of defence. Work that
exceeds them is stopped, and what was not judged is a finding.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

from inspector.model import Finding
from inspector.model.codes import Code
from inspector.opening.configs import FILES, MAX_CONFIG
from inspector.opening.index import MAX_INDEX
from inspector.sources.filenames import WEIGHTS
from inspector.units import integer

MAX_HEADER = 24 * 1024 * 1024  # 183,607 in one file, 671 billion parameters in NVFP4, take 23 MB
MAX_TENSORS = 20_000  # in one GGUF, in which experts are stacked: real ones have 3,000
MAX_DOCUMENT = MAX_CONFIG  # configurations, tokenizer_config.json
MAX_DOCUMENTS = 16 * 1024 * 1024  # all of them together
MAX_FILES = 10_000  # of one model; the largest published ones have about 1,000
MAX_EXTRA = 500  # weight files in addition to the checkpoint's own
KEPT_DOCUMENTS = 16  # parsed ones that are kept for the next rule
START = 64  # first bytes of a file, which identify it for many rules: read once

#: The longest header that safetensors itself reads; its reader reports longer ones, and those beyond the file's end.
_POSSIBLE_HEADER = 100_000_000
#: Seconds of processor time: for any target, more for each megabyte of it, and at most. A typical model takes a tenth
#: of the first number.
SECONDS, SECONDS_PER_MEGABYTE, MOST_SECONDS = 1.2, 0.5, 120.0
#: Bytes of memory: for any target, more for each byte of it, and at most.
MEMORY, MEMORY_PER_BYTE, MOST_MEMORY = 125_000_000, 4, 1_000_000_000


def excess(path: str, size: int, head: Callable[[str, int], bytes]) -> Finding | None:
    """Describes the excess of a file that is too large to be checked.

    Args:
        size: of the file, in bytes.
        head: path and length → the file's first bytes.
    """
    if path.endswith(".index.json"):
        return _beyond(path, size, MAX_INDEX, "index")
    if path.rsplit("/", 1)[-1] in FILES:
        return _beyond(path, size, MAX_DOCUMENT, "config")
    return _of_header(path, size, head(path, 16)) if path.endswith(WEIGHTS) else None


def _of_header(path: str, size: int, first: bytes) -> Finding | None:
    """The excess of a weight file, from its first 16 bytes."""
    if first[:4] in (b"GGUF", b"FUGG"):
        tensors = min(int.from_bytes(first[8:], order) for order in ("little", "big"))
        if MAX_TENSORS < tensors < size:  # a count that exceeds the file is reported by its reader
            what = f"{integer(tensors)} tensors, but no sound file needs {integer(MAX_TENSORS)}: not checked"
            return Finding("header-size", "error", what, path)
        return None
    length = int.from_bytes(first[:8], "little")
    return _beyond(path, length, MAX_HEADER, "header-size") if length <= min(size, _POSSIBLE_HEADER) else None


def _beyond(path: str, size: int, limit: int, rule: Code) -> Finding | None:
    if size <= limit:
        return None
    what = f"{integer(size)} bytes, but no sound file needs {integer(limit)}: not checked"
    return Finding(rule, "error", what, path)


class Exceeded(BaseException):
    """A target's time is used up. Not an `Exception`: handlers of a file's faults must not catch it."""


def seconds_for(size: int) -> float:
    """Processor time for a target of this many bytes."""
    return min(MOST_SECONDS, SECONDS + SECONDS_PER_MEGABYTE * size / 1_000_000)


@contextmanager
def work(seconds: float, size: int, *, own_process: bool) -> Iterator[None]:
    """Limits the work inside the context to this processor time, and to the memory for a target of `size` bytes.

    Args:
        own_process: whether the whole process may be limited in its memory.
    """
    most = min(MOST_MEMORY, MEMORY + MEMORY_PER_BYTE * size)
    with processor_time(seconds), memory(most) if own_process else nullcontext():
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
