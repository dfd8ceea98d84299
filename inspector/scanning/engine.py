"""Dask's cluster, this machine's or the team's: a bounded number of tasks at a time, repeated if workers fail.

The scheduler holds no more tasks than the workers' threads can use, whatever the scan's size. If a worker dies or goes
silent, Dask gives its tasks to others; if the scheduler is gone, we wait for it and submit its tasks again.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic, sleep
from typing import Any, NamedTuple

from inspector.errors import NetworkError, UsageError, install_command
from inspector.scanning.process import not_from_here, on_interrupt
from inspector.scanning.work import PacePlugin
from inspector.units import escape

#: Tasks per worker thread, so that none waits for the next one.
AHEAD = 2
#: How often a task is resubmitted after its worker died.
RETRIES = 5
#: Seconds to wait for a lost scheduler, and between two attempts.
PATIENCE, BETWEEN = 300.0, 0.5
#: Seconds within which a scheduler must answer.
ANSWERING = 5.0
#: Seconds between two checks for other work.
TICK = 0.5
#: Messages per worker that Dask keeps for debugging: each holds a whole task of about 100 kB.
LOGGED = 16
#: Dask's settings, unless the user has set them: a silent worker is given up sooner, logs are short.
SETTINGS = {
    "distributed": {
        "scheduler": {"worker-ttl": "60s", "allowed-failures": RETRIES},
        "admin": {"low-level-log-length": LOGGED, "system-monitor": {"interval": "2s"}},
        "worker": {"profile": {"enabled": False}},
        "comm": {"timeouts": {"connect": "10s"}},
    }
}
#: Dask's loggers about clusters that come and go, which this program reports itself.
_LOUD = ("", ".client", ".comm", ".core", ".nanny", ".scheduler", ".utils", ".worker")


class Task(NamedTuple):
    """A call for a worker, under a unique name."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Cluster:
    """A shared scheduler, or one embedded in this process."""

    def __init__(self, client: Any, address: str | None) -> None:
        self._client, self._address = client, address
        self._looked, self._hands = -10.0, 0
        self._given_up: dict[str, int] = {}  # task → how often its worker died
        self._one_done = threading.Event()
        self.lost = 0  # how often tasks were resubmitted
        self.dashboard = str(client.dashboard_link)  # the address of Dask's own page

    def hands(self) -> int:
        """Threads of all workers, as of a moment ago."""
        if monotonic() - self._looked > 2:
            with suppress(Exception):
                self._hands = sum(self._client.nthreads().values())
            self._looked = monotonic()
        return self._hands

    def run(self, tasks: Callable[[], Task | None], tick: Callable[[Task | None, Any], bool]) -> None:
        """Run tasks until there are no more; raises whatever one of them raises.

        Args:
            tasks: the next one; None if there is none at the moment.
            tick: called with each task and its result, and with None at intervals; returns whether more tasks may come.
        """
        running: dict[Any, Task] = {}
        more = True
        try:
            while more or running:
                while len(running) < max(2, AHEAD * self.hands()) and (task := tasks()):
                    running[self._submit(task)] = task
                finished = self._finished(running)
                for future in finished:
                    task = running.pop(future)
                    if (got := self._result_of(future)) is not None:
                        more = tick(task, got[0])
                    else:
                        running[self._submit(self._worth_another(task, future))] = task
                if not finished:
                    more = tick(None, None)
                if self._client.status != "running":
                    running = self._resubmit(running)
        except BaseException:
            with suppress(Exception):
                self._client.cancel(list(running), force=True)
            raise

    def _submit(self, task: Task) -> Any:
        """Submit a task, if necessary to the next scheduler."""
        while True:
            try:
                future = self._client.submit(
                    task.function, *task.arguments, key=f"{task.name}-{self.lost}", pure=False, retries=0
                )
                future.add_done_callback(lambda _: self._one_done.set())
                return future
            except Exception as error:  # of any kind: the scheduler is unreachable
                self._reconnect(error)

    def _finished(self, running: dict[Any, Task]) -> list[Any]:
        """Tasks that are done or lost; empty after a time-out.

        Dask's own `wait` uses the default client, which this one is not.
        """
        self._one_done.wait(TICK if running else TICK / 10)
        self._one_done.clear()
        return [future for future in running if future.status != "pending"]

    def _result_of(self, future: Any) -> tuple[Any] | None:
        """A task's result, in a tuple; None if it has none, or it cannot be fetched."""
        if future.status == "finished":
            with suppress(Exception):
                return (future.result(),)
        return None

    def _worth_another(self, task: Task, future: Any) -> Task:
        """The task, if its worker or the scheduler failed. Raises whatever the task itself raised."""
        self.lost += 1
        if future.status != "error":  # cancelled, lost with the scheduler, or not fetchable
            return task
        error = future.exception()
        times = self._given_up[task.name] = self._given_up.get(task.name, 0) + 1
        if type(error).__name__ not in ("KilledWorker", "CommClosedError", "CancelledError") or times > RETRIES:
            raise error
        return task

    def _resubmit(self, running: dict[Any, Task]) -> dict[Any, Task]:
        """Resubmit the same tasks to a new scheduler, under new names."""
        self.lost += 1
        self._reconnect(None)
        return {self._submit(task): task for task in running.values()}

    def _reconnect(self, error: Exception | None) -> None:
        """Find the scheduler again. Raises NetworkError if it does not return."""
        if self._address is None:
            raise NetworkError(f"the cluster on this machine has ended: {escape(str(error or 'no scheduler'), 200)}")
        until = monotonic() + PATIENCE
        with suppress(Exception):
            self._client.close(timeout=1)
        while True:
            try:
                self._client = _client(self._address)
            except NetworkError:
                if monotonic() > until:
                    raise
                sleep(BETWEEN)
            else:
                return

    def close(self) -> None:
        with suppress(Exception):
            self._client.close(timeout=5)


@contextmanager
def cluster(scheduler: str | None, workers: int | None) -> Iterator[Cluster]:
    """The cluster at an address, or one on this machine's cores.

    Raises:
        UsageError: Dask is not installed, or its processes do not start.
        NetworkError: no scheduler answers at the address.
    """
    _configure()
    if scheduler:
        found = Cluster(_client(scheduler), scheduler)
        try:
            yield found
        finally:
            found.close()
        return
    from distributed import Client, LocalCluster

    number = workers or os.cpu_count() or 1
    with ExitStack() as started:
        started.enter_context(not_from_here())  # to the end: workers that die are started again
        with on_interrupt(signal.SIG_IGN):  # its processes leave Ctrl-C to this one, which ends them without tracebacks
            try:
                local = started.enter_context(
                    LocalCluster(
                        n_workers=number,
                        threads_per_worker=1,
                        processes=True,
                        memory_limit=0,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
            except RuntimeError as error:  # a process that imports the caller's script must not begin a scan of its own
                guard = "a script must call it below `if __name__ == '__main__':`, for its processes import the script"
                raise UsageError(f"the scan's processes did not start: {guard}") from error
        client = started.enter_context(Client(local, set_as_default=False))
        client.register_plugin(_plugin())
        yield Cluster(client, None)


def _client(address: str) -> Any:
    from distributed import Client

    try:
        client = Client(address, timeout=ANSWERING, set_as_default=False)
        client.register_plugin(_plugin())
    except Exception as error:  # Dask has many kinds
        reason = escape(" ".join(str(error).split()), 200) or type(error).__name__
        raise NetworkError(f"no scheduler answers at {escape(address, 200)}: {reason}") from error
    return client


def _plugin() -> Any:
    from distributed.diagnostics.plugin import SchedulerPlugin

    return type("Pace", (PacePlugin, SchedulerPlugin), {})()


def _configure() -> None:
    """Apply Dask settings that the user has not set. Raises UsageError if it is not installed."""
    try:
        import dask
        import distributed  # noqa: F401  its own settings come before ours
    except ImportError as error:
        raise UsageError(f"a scan needs Dask: `{install_command('scan')}`") from error
    dask.config.update_defaults(SETTINGS)
    for name in _LOUD:
        logging.getLogger(f"distributed{name}").setLevel(logging.CRITICAL)
