"""The reading process from the outside: started, given batches, subject to time limits, replaced if it hangs or
dies."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from pkgutil import iter_modules
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, NamedTuple

from inspector.errors import SourceError, UsageError
from inspector.scanning.child import BEGAN, receive, send
from inspector.scanning.ledger import Batch
from inspector.units import escape

#: Time limits in seconds for starting, and for writing a batch.
STARTING, WRITING = 60.0, 120.0
#: How often a unit may end the process before it is skipped.
CRASHES = 2
#: The process. Its search path does not begin with the working directory, which may be a download (see the end).
_START = (
    "import sys; sys.path[:] = filter(None, sys.path); from inspector.scanning import child; child.main(sys.argv[1:])"
)


class Written(NamedTuple):
    """The totals of a batch."""

    checkpoints: int
    on_disk: int  # bytes of weight files
    errors: int  # checkpoints that have errors or cannot be read
    requests: int  # over the network
    bytes_read: int


class OutputError(SourceError):
    """The rows cannot be written, e.g. because the disk is full. A retry would not help."""


class Job(NamedTuple):
    """A batch with everything needed to inspect it."""

    batch: Batch
    scan: int
    work: str
    timeout: float  # seconds for each unit
    per_second: float  # requests to one server, of all workers
    tables: tuple[str, ...] = ()  # folders with the user's own architectures


#: (server, requested pause in seconds or None) → seconds to wait.
Pacing = Callable[[str, float | None], float]


class Process:
    """One reading process. Not thread-safe."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._watched = self._begun = -1
        self._tables: tuple[str, ...] = ()
        self._at, self._began = 0, 0.0  # the current unit, and when it began

    def run(self, job: Job, pacing: Pacing) -> Written:
        """Inspect and write a batch. A unit that hangs or crashes is a row, and the others are restarted without it.

        Raises:
            OutputError: the rows cannot be written.
        """
        refused: dict[int, tuple[str, str]] = {}
        crashes: dict[int, int] = {}
        while True:
            at, reason = self._attempt(job, refused, pacing)
            if isinstance(reason, Written):
                return reason
            kind, why = reason
            self.stop()
            crashes[at] = crashes.get(at, 0) + 1
            if kind == "Timeout" or crashes[at] >= CRASHES:
                if at >= len(job.batch.units):
                    raise OutputError(f"writing a batch: {why}")
                refused[at] = (kind, why)

    def _attempt(
        self, job: Job, refused: dict[int, tuple[str, str]], pacing: Pacing
    ) -> tuple[int, Written | tuple[str, str]]:
        """The unit at which the attempt ended, and its outcome."""
        connection = self._started(job)
        units = [unit.packed() for unit in job.batch.units]
        order = {"scan": job.scan, "work": job.work, "part": job.batch.part, "before": job.batch.before, "units": units}
        limit = job.timeout
        self._look()
        self._at, self._began = 0, monotonic() + max(0.0, STARTING - limit)
        try:
            send(connection, {**order, "refused": refused})
            while True:
                left = self._began + (limit if self._at < len(units) else WRITING) - monotonic()
                if not connection.poll(max(0.0, min(left, limit))):
                    if not self._look() and left <= limit:
                        return self._at, ("Timeout", f"takes longer than {limit:g} seconds")
                    continue
                answer = receive(connection)
                if "finished" in answer:
                    return self._at, _written(answer)
                if "failed" in answer:
                    raise OutputError(answer["failed"])
                self._look()
                wait = pacing(answer.get("before") or answer["refused"], answer.get("seconds"))
                send(connection, {"wait": wait})
                self._began = monotonic() + wait
        except (EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.EPIPE, errno.ECONNRESET, None):
                raise
            self._look()
            return self._at, ("Crash", f"crashed the reading process{self._how()}")

    def _look(self) -> bool:
        """Check which unit the process is at; return whether that has changed since the last check."""
        before = self._at
        with suppress(BlockingIOError):
            while begun := os.read(self._begun, 4096):
                for (began,) in BEGAN.iter_unpack(begun):
                    self._at, self._began = self._at + 1, began
        return self._at != before

    def _started(self, job: Job) -> Connection:
        alive = self._connection is not None and self._child is not None and self._child.poll() is None
        if self._connection is not None and alive and self._tables == job.tables:
            return self._connection
        self.stop()
        ours, theirs = Pipe()
        watched, self._watched = os.pipe()
        self._begun, telling = os.pipe()
        os.set_blocking(self._begun, False)
        self._tables = job.tables
        handles = (theirs.fileno(), watched, telling)
        command = [sys.executable, "-c", _START, *map(str, handles), *job.tables]
        paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        # In its own session: Ctrl-C goes to the process that started the scan.
        self._child = subprocess.Popen(  # noqa: S603  this Python, this package
            command,
            pass_fds=handles,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        theirs.close()
        os.close(watched)
        os.close(telling)
        self._connection = ours
        return ours

    def _how(self) -> str:
        """The signal or exit code with which the process ended."""
        if self._child is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            code = self._child.wait(5)
            return f": signal {-code}" if code < 0 else f": exit code {code}"
        return ""

    def stop(self) -> None:
        """End the process without waiting for it: it may be stuck on a disk forever."""
        if self._connection is not None:
            self._connection.close()
            os.close(self._watched)
            os.close(self._begun)
            self._connection = None
        if self._child is not None:
            self._child.kill()
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(1)
            self._child = None


def _written(answer: dict[str, Any]) -> Written:
    return Written(
        answer["finished"]["checkpoints"], answer["on_disk"], answer["errors"], answer["requests"], answer["bytes_read"]
    )


# --- what a scan's processes may import -----------------------------------------------------------
# Never from the folder that the user is in, which may be a download. Python started with `-c` or `-m` imports from the
# working directory first: a `re.py` there would run in each process.

#: From Python 3.11 on, a process that starts with this does not search the working directory.
_SAFE = "PYTHONSAFEPATH"


@contextmanager
def not_from_here() -> Iterator[None]:
    """Processes started within this context, by us or by Dask, import nothing from the working directory.

    Raises:
        UsageError: before Python 3.11, if a module there would take another's place.
    """
    if sys.version_info < (3, 11):
        _check(Path.cwd())
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SAFE, None)
        else:
            os.environ[_SAFE] = before


@contextmanager
def on_interrupt(do: Any) -> Iterator[None]:
    """What Ctrl-C does within this context, as `signal.signal` takes it; outside the main thread nothing changes."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, do)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _check(folder: Path) -> None:
    elsewhere = [place for place in sys.path if place and Path(place).resolve() != folder.resolve()]
    needed = {*sys.stdlib_module_names, *(each.name for each in iter_modules(elsewhere))}
    for name in sorted(needed - _own(folder)):
        for found in (folder / f"{name}.py", folder / name / "__init__.py"):
            if found.is_file():
                raise UsageError(
                    f"{escape(str(found), 200)} would run in the scan's processes in place of the module of that name: "
                    "start the scan from another folder"
                )


def _own(folder: Path) -> set[str]:
    """Modules that this process has from the folder itself, as when it is started from this package's sources."""
    places = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    return {name.partition(".")[0] for name, file in places if file and Path(file).is_relative_to(folder)}
