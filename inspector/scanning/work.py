"""What runs on the cluster. On its workers: inspect batches and commit the results; merge parts. On its scheduler: one
pace for all workers, which decides how long each waits before a request.

Only the scheduler's clock counts, and it sends seconds to wait, because workers' clocks may differ.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any
from uuid import uuid4

from inspector.scanning import storage
from inspector.scanning.process import Job, OutputError, Process, Written

#: Idle reading processes; one per worker thread.
_idle: list[Process] = []
_lock = Lock()


@contextmanager
def _process() -> Iterator[Process]:
    with _lock:
        process = _idle.pop() if _idle else Process()
    try:
        yield process
    except BaseException:
        process.stop()
        raise
    with _lock:
        _idle.append(process)


@contextmanager
def _own_folder(work: str) -> Iterator[Path]:
    """The folder of one attempt; none can begin once its run has ended.

    Raises:
        OutputError: the tables cannot be written.
    """
    own = Path(work, uuid4().hex)
    try:
        own.mkdir()
        yield own
    except OSError as error:
        raise OutputError(storage.unwritten(error)) from error
    finally:
        shutil.rmtree(own, ignore_errors=True)


def inspect_batch(job: Job, out: str) -> Written:
    """Inspect a batch and commit its part. Idempotent.

    Raises:
        OutputError: the tables cannot be written.
    """
    part, folder = job.batch.part, Path(out)
    with _own_folder(job.work) as own, _process() as process:
        written = process.run(job._replace(work=str(own)), partial(through_scheduler, job.per_second))
        storage.commit(folder, own, part)
    return written


def merge_parts(out: str, work: str, part: str, sources: Mapping[str, Sequence[str]]) -> int:
    """Merge parts, and delete the originals.

    Raises:
        OutputError: the tables cannot be written.
    """
    folder = Path(out)
    merged = 0
    if not storage.part_file(folder, "checkpoints", part).exists():  # e.g. after a worker that died while deleting
        with _own_folder(work) as own:
            merged = storage.merge(folder, own, part, sources)
            if not merged:
                storage.drop(folder, [part])
    storage.drop(folder, sources)
    return merged


def stop() -> None:
    """End this process's reading processes."""
    with _lock:
        while _idle:
            _idle.pop().stop()


# --- the pace -------------------------------------------------------------------------------------

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
