"""The work of the cluster's workers: inspect batches and commit the results; merge parts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from uuid import uuid4

from inspector.scanning import storage
from inspector.scanning.pacing import through_scheduler
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
