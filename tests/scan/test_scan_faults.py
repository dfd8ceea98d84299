"""Failures of a data centre, on a real scheduler and workers: the tables must equal those of an undisturbed run."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run
from threading import Thread
from time import monotonic, sleep

import pytest
from costs import HANGS

import inspector
from inspector.errors import SourceError
from inspector.scanning import engine, storage
from scan.conftest import OF_THE_SCAN, gguf, llama, make, table, tables
from scan.test_scan_resume import many

pytestmark = [pytest.mark.gate, pytest.mark.once]

#: Checkpoints in a tree: enough for a failure to happen in the middle.
MANY = 200


class Team:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self, environment: dict[str, str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._environment = {
            **os.environ,
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3s",
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "5",
            **environment,
        }
        self._all: list[Popen[bytes]] = []
        self.start_scheduler()
        self.workers = [self.start_worker(), self.start_worker()]

    def start_scheduler(self) -> None:
        where = ("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show")
        self.scheduler = self._start("distributed.cli.dask_scheduler", *where)

    def start_worker(self, largest: int | None = None) -> Popen[bytes]:
        """`largest` is the size of the largest file that it can write: beyond it, its disk is full."""
        return self._start(
            "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny",
            "--memory-limit", "0", "--death-timeout", "60", largest=largest,
        )  # fmt: skip

    def _start(self, module: str, *arguments: str, largest: int | None = None) -> Popen[bytes]:
        limited = ["prlimit", f"--fsize={largest}"] if largest else []
        command = [*limited, sys.executable, "-W", "ignore", "-m", module, *arguments]
        process = Popen(command, env=self._environment, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
        self._all.append(process)
        return process

    def end(self) -> None:
        for process in self._all:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait(10)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A team whose reading processes find the file system that hangs by its entry point."""
    home = tmp_path_factory.mktemp("slowfs")
    (home / "slowfs.py").write_text((Path(__file__).parent / "slowfs.py").read_text())
    (home / "slowfs-1.dist-info").mkdir()
    (home / "slowfs-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: slowfs\nVersion: 1\n")
    (home / "slowfs-1.dist-info/entry_points.txt").write_text("[fsspec.specs]\nhangs = slowfs:Hanging\n")
    found = Team({"PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")])})
    try:
        yield found
    finally:
        found.end()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("many") / "tree", MANY)


@pytest.fixture(scope="module")
def quiet(tree: Path, team: Team, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    """The tables of an undisturbed run; one in a hundred checkpoints is damaged."""
    out = tmp_path_factory.mktemp("quiet") / "out"
    done = inspector.scan([tree], out, scheduler=team.address)
    assert (done.checkpoints, done.broken) == (MANY, MANY // 100 + 1)
    return tables(out)


@contextmanager
def once_begun(out: Path, fault: Callable[[], object]) -> Iterator[None]:
    """Do something as soon as a part is committed, while a scan runs."""
    happened: list[bool] = []

    def wait() -> None:
        until = monotonic() + HANGS
        while monotonic() < until and not happened:
            if out.exists() and storage.parts(out):
                fault()
                happened.append(True)
            sleep(0.005)

    thread = Thread(target=wait, daemon=True)
    thread.start()
    yield
    thread.join(60)
    assert happened


def children(process: Popen[bytes]) -> list[int]:
    found = run(["ps", "-o", "pid=", "--ppid", str(process.pid)], stdout=PIPE, check=False, text=True)
    return [int(pid) for pid in found.stdout.split()]


def test_a_worker_is_killed(tree: Path, team: Team, quiet: object, tmp_path: Path) -> None:
    """A worker is killed in the middle of a task, and another one joins. Its reading process ends with it."""
    out, victim = tmp_path / "out", team.workers[0]
    readers: list[int] = []

    def fault() -> None:
        readers.extend(children(victim))
        victim.kill()
        team.workers[0] = team.start_worker()

    with once_begun(out, fault):
        inspector.scan([tree], out, scheduler=team.address)
    assert tables(out) == quiet
    until = monotonic() + HANGS
    while any(Path(f"/proc/{pid}").exists() for pid in readers) and monotonic() < until:
        sleep(0.05)
    assert not [pid for pid in readers if Path(f"/proc/{pid}/exe").exists()]


def test_a_worker_stalls(tree: Path, team: Team, quiet: object, tmp_path: Path) -> None:
    """A stopped worker's tasks are done by the others; when it continues later, nothing is written twice."""
    out, victim = tmp_path / "out", team.workers[1]
    with once_begun(out, lambda: victim.send_signal(signal.SIGSTOP)):
        inspector.scan([tree], out, scheduler=team.address)
    victim.send_signal(signal.SIGCONT)
    sleep(1)
    assert tables(out) == quiet
    victim.kill()
    team.workers[1] = team.start_worker()


def test_reading_processes_are_killed(tree: Path, team: Team, quiet: object, tmp_path: Path) -> None:
    """Reading processes are killed, as the system does when memory is short: what each was reading is read again."""
    out = tmp_path / "out"

    def fault() -> None:
        for pid in (pid for worker in team.workers for pid in children(worker)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    with once_begun(out, fault):
        inspector.scan([tree], out, scheduler=team.address)
    assert tables(out) == quiet


def test_the_scheduler_is_restarted(tree: Path, team: Team, quiet: object, tmp_path: Path) -> None:
    """Its workers end with it; a new scheduler has other workers, and the scan continues with these."""
    out = tmp_path / "out"

    def fault() -> None:
        team.scheduler.kill()
        team.scheduler.wait(10)
        team.start_scheduler()
        team.workers = [team.start_worker(), team.start_worker()]

    with once_begun(out, fault):
        inspector.scan([tree], out, scheduler=team.address)
    assert tables(out) == quiet


def test_the_disk_is_full(tree: Path, team: Team, quiet: object, tmp_path: Path) -> None:
    """One error, and no partial output; with more room --resume does what is missing."""
    out = tmp_path / "out"
    for worker in team.workers:
        worker.kill()
    team.workers = [team.start_worker(largest=16_384)]
    with pytest.raises(SourceError, match="the tables cannot be written: File too large"):
        inspector.scan([tree], out, scheduler=team.address)
    assert not [*(out / ".work").iterdir()]
    team.workers[0].kill()
    team.workers = [team.start_worker(), team.start_worker()]
    inspector.scan([], out, resume=True, scheduler=team.address)
    assert tables(out) == quiet


def test_a_file_system_hangs(team: Team, tmp_path: Path) -> None:
    """A checkpoint that takes too long is a row; once the disk is back, --resume reads only that one."""
    folder, out = make(tmp_path / "tree", a=llama(), b=llama(), c=gguf(), d=llama()), tmp_path / "out"
    home = f"hangs://{folder}"
    quiet_out = tmp_path / "quiet"
    environment = pytest.MonkeyPatch()
    environment.syspath_prepend(str(Path(__file__).parent))
    import fsspec
    import slowfs  # type: ignore[import-not-found]  # found by the path above

    fsspec.register_implementation("hangs", slowfs.Hanging, clobber=True)
    inspector.scan([home], quiet_out, scheduler=team.address)
    (folder / "b" / "hang").touch()
    began = monotonic()
    done = inspector.scan([home], out, scheduler=team.address, timeout=5)
    assert monotonic() - began < HANGS
    assert done.unreadable == 1
    (row,) = [row for row in table(out, "checkpoints") if row["error"]]
    assert (row["target"], row["error_kind"]) == (f"{home}/b", "Timeout")
    (folder / "b" / "hang").unlink()
    assert inspector.scan([], out, resume=True, scheduler=team.address).inspected == 1
    assert tables(out, without=OF_THE_SCAN) == tables(quiet_out, without=OF_THE_SCAN)
    environment.undo()


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ANSWERING", 1.0)
    tree = make(tmp_path / "tree", a=llama())
    with pytest.raises(SourceError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1"):
        inspector.scan([tree], tmp_path / "out", scheduler="tcp://127.0.0.1:1")
