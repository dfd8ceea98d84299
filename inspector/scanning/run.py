"""One scan, from its roots to settled tables. If killed at any moment, it resumes from what was committed."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from time import monotonic, time
from typing import Any, NamedTuple
from uuid import uuid4

from inspector.architectures import added_tables
from inspector.errors import SourceError, UsageError, install_command
from inspector.scanning import engine, storage, work
from inspector.scanning.discovery import discover
from inspector.scanning.engine import Cluster, Task
from inspector.scanning.ledger import Ledger
from inspector.scanning.process import Job, Written
from inspector.scanning.schema import VERSION
from inspector.scanning.unit import short_digest
from inspector.tabular import Tabular
from inspector.units import decimal, escape, integer, plural
from inspector.version import __version__

#: Checkpoints of a full part, which is no longer merged: a million checkpoints are some 250 parts.
FULL = 4096
#: Requests per second to one server, from all workers together; seconds for one checkpoint.
PER_SECOND, TIMEOUT = 50.0, 120.0
#: Discovered units that are recorded together.
TOGETHER = 256


class Progress(NamedTuple):
    """The progress of a scan."""

    found: int  # units to inspect, discovered so far
    all_found: bool
    done: int  # inspected units
    checkpoints: int  # checkpoints in these units
    on_disk: int  # their bytes
    errors: int  # checkpoints that are broken or cannot be read
    kept: int  # unchanged units
    seconds: float  # since the first unit was given to a worker
    hands: int  # workers' threads
    dashboard: str

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds; None while unknown."""
        return (self.found - self.done) / self.rate if self.all_found and self.rate else None


@dataclass(frozen=True, slots=True, repr=False)
class Scan(Tabular):
    """A finished scan: its entry in scan.json, and what the tables contain now. Sizes are bytes."""

    folder: Path  # that of the tables
    number: int  # from 1 on
    roots: tuple[str, ...]
    began: int  # seconds since 1970
    finished: int
    version: str
    inspected: int  # checkpoints
    units: Mapping[str, int]  # inspected, kept as they were, changed
    vanished: Mapping[str, int]  # checkpoints that are gone, and their bytes
    requests: int
    bytes_read: int
    seconds: float
    checkpoints: int  # in the tables, as are all below
    on_disk: int
    logical: int  # parameters
    broken: int  # checkpoints with errors
    unreadable: int
    families: Mapping[str, Mapping[str, int]]  # family → checkpoints, on_disk

    def __repr__(self) -> str:
        held = f"{plural(self.checkpoints, 'checkpoint')}, {decimal(self.on_disk)}"
        return f"<Scan {escape(str(self.folder), 100)}: {held}, {integer(self.broken)} broken>"

    @property
    def entry(self) -> dict[str, Any]:
        """As in scan.json."""
        return {each.name: getattr(self, each.name) for each in fields(self)[1:]}


def scan(
    roots: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    resume: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
    requests_per_second: float = PER_SECOND,
    timeout: float = TIMEOUT,
    sbom: str | Path | None = None,
    progress: Callable[[Progress], object] = lambda _: None,
) -> Scan:
    """Inspect and audit every checkpoint at the roots, and write the results into Parquet tables (docs/scan.md).

    A script calls it below `if __name__ == "__main__":`, since its processes import the script.

    Args:
        roots: one or several: a folder, a file, `s3://…`, `hf://org`, a repository, `@targets.txt`; by default those of
            the previous scan.
        out: the tables' folder; all workers must have it under this path.
        resume: resume an interrupted scan, or repeat what has changed since it ended.
        scheduler: the address of a Dask scheduler; by default a cluster on this machine's cores.
        workers: processes of the cluster on this machine.
        requests_per_second: from all workers to one server.
        timeout: seconds for one checkpoint, and for the listing of one folder.
        sbom: a file to write a bill of materials of all tables to: `*.cdx.json`, `*.spdx3.json`.

    Returns:
        What was done, and what the tables contain; `to_pandas()` is the table of checkpoints.

    Raises:
        UsageError: there is already a scan and `resume` is not set, another one is running, a package is missing,
            the processes do not start, or `sbom` may not be written.
        SourceError: the tables cannot be written.
        NetworkError: the scheduler does not answer.

    Example:
        >>> done = inspector.scan(["fixtures/real/safetensors"], "tables", workers=1)
        >>> done.checkpoints, done.unreadable
        (32, 0)
    """
    check_packages()
    named = [str(root) for root in ([roots] if isinstance(roots, (str, Path)) else roots)]
    folder = Path(out).expanduser().absolute()
    bill = None if sbom is None else Tabular.renderer().sbom(sbom)
    storage.prepare(folder)
    with storage.locked(folder):
        storage.clean(folder)
        summary, own = _begun(folder, named, resume=resume)
        run = Run(folder, own, timeout, requests_per_second)
        with run.under_way(), engine.cluster(scheduler, workers) as cluster:
            run.inspect(cluster, progress)
            run.settle(cluster)
        own.update(run.summary(), finished=round(time()))
        storage.write_summary(folder, summary)
        if bill is not None:
            bill.write(folder)
    own["roots"] = tuple(own["roots"])
    return Scan(folder, *(own[each.name] for each in fields(Scan)[1:]))


def check_packages() -> None:
    """Raises UsageError if a package that a scan needs is not installed."""
    try:
        import distributed  # noqa: F401  whether it is there
        import pyarrow  # noqa: F401  the same
    except ImportError as error:
        raise UsageError(f"a scan needs {escape(str(error.name), 40)}: `{install_command('scan')}`") from error


def _begun(folder: Path, roots: Sequence[str], *, resume: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """scan.json with this scan, and its entry: a new one, or the last one if that did not end."""
    summary = storage.read_summary(folder) or {"schema": "checkpoint-inspector/1", "tables": VERSION, "scans": []}
    scans = summary["scans"]
    if scans and not resume:
        raise UsageError(f"{escape(str(folder))} already has a scan: --resume continues it, or brings it up to date")
    last = scans[-1] if scans else {}
    roots = list(roots) or list(last.get("roots", ()))
    if not roots:
        raise UsageError("name what to scan: folders, s3://…, hf://org, @targets.txt")
    if not scans or last.get("finished") is not None:
        scans.append({"number": len(scans) + 1})
    scans[-1].update(roots=roots, began=round(time()), finished=None, version=__version__)
    storage.write_summary(folder, summary)
    return summary, scans[-1]


class Run:
    """One process's part in a scan."""

    def __init__(self, folder: Path, scan: Mapping[str, Any], timeout: float, per_second: float) -> None:
        self._folder, self._scan, self._timeout = folder, scan["number"], timeout
        self._roots: list[str] = scan["roots"]
        self._per_second = per_second
        self._tables = added_tables()
        self._name = uuid4().hex[:8]
        self._work = folder / ".work" / self._name
        self._found, self._leave = Event(), Event()
        self._trouble: list[BaseException] = []
        self._units = 0
        self._sums = Written(0, 0, 0, 0, 0)
        self._began = self._seconds = 0.0
        self._vanished = (0, 0)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """The resources needed while it runs; afterwards nothing can be committed."""
        with tempfile.TemporaryDirectory(prefix="inspect-scan-") as own:
            self._ledger = Ledger(Path(own) / "ledger", self._name, self._scan, self._roots)
            try:
                self._work.mkdir(parents=True)
                self._ledger.remember(self._folder)
                yield
            except OSError as error:
                raise SourceError(f"{escape(str(self._folder))}: {error.strerror or error}") from error
            except sqlite3.Error as error:
                raise SourceError(f"{escape(own)}: the scan's ledger cannot be kept there: {error}") from error
            finally:
                self._leave.set()
                shutil.rmtree(self._work, ignore_errors=True)
                self._ledger.close()

    def inspect(self, cluster: Cluster, progress: Callable[[Progress], object]) -> None:
        """Inspect all new or changed units."""
        Thread(target=self._discover, daemon=True).start()
        self._began = monotonic()

        def tick(task: Task | None, written: Written | None) -> bool:
            all_found = self._found.is_set()
            if self._trouble:
                raise self._trouble[0]
            if task is not None and written is not None:
                self._units += len(task.arguments[0].batch.units)
                self._sums = Written(*(a + b for a, b in zip(self._sums, written, strict=True)))
            self._seconds = monotonic() - self._began
            progress(self._progress(cluster, all_found=all_found))
            return not all_found or self._units < self._ledger.todo

        cluster.run(self._next, tick)

    def _discover(self) -> None:
        """Discover units and record them as they are found, in a separate thread."""
        try:
            units = discover(self._roots, self._timeout)
            while (some := list(islice(units, TOGETHER))) and not self._leave.is_set():
                self._ledger.add(some)
        except BaseException as error:  # re-raised in the waiting thread
            if not self._leave.is_set():
                self._trouble.append(error)
        finally:
            self._found.set()

    def _next(self) -> Task | None:
        batch = self._ledger.next_batch(all_found=self._found.is_set())
        if batch is None:
            return None
        job = Job(batch, self._scan, str(self._work), self._timeout, self._per_second, self._tables)
        return Task(f"inspect-{batch.part}", work.inspect_batch, (job, str(self._folder)))

    def _progress(self, cluster: Cluster, *, all_found: bool) -> Progress:
        checkpoints, on_disk, errors, *_ = self._sums
        return Progress(
            self._ledger.todo, all_found, self._units, checkpoints, on_disk, errors, self._ledger.kept,
            self._seconds, cluster.hands(), cluster.dashboard,
        )  # fmt: skip

    def settle(self, cluster: Cluster) -> None:
        """Remove what no longer exists, and merge small parts."""
        tasks = [self._merging(sources) for sources in merges(_sizes(self._folder), self._ledger.stale())]
        left = len(tasks)

        def tick(task: Task | None, _result: Any) -> bool:
            nonlocal left
            left -= task is not None
            return left > 0

        waiting = iter(tasks)
        if tasks:
            cluster.run(lambda: next(waiting, None), tick)
        self._vanished = self._ledger.vanished()

    def _merging(self, sources: Mapping[str, Sequence[str]]) -> Task:
        part = short_digest(self._name, *sources)
        return Task(f"merge-{part}", work.merge_parts, (str(self._folder), str(self._work), part, sources))

    def summary(self) -> dict[str, Any]:
        """The entry in scan.json: what this run did, and what the tables contain."""
        gone, gone_bytes = self._vanished
        return {
            "inspected": self._sums.checkpoints,
            "units": {"inspected": self._units, "kept": self._ledger.kept, "changed": self._ledger.changed},
            "vanished": {"checkpoints": gone, "on_disk": gone_bytes},
            "requests": self._sums.requests,
            "bytes_read": self._sums.bytes_read,
            "seconds": round(self._seconds, 3),
            **totals(self._folder),
        }


def _sizes(folder: Path) -> dict[str, int]:
    """Part → its number of checkpoints."""
    from pyarrow import parquet

    return {
        part: parquet.read_metadata(storage.part_file(folder, "checkpoints", part)).num_rows
        for part in storage.parts(folder)
    }


def merges(sizes: Mapping[str, int], stale: Mapping[str, Iterable[str]]) -> list[dict[str, list[str]]]:
    """Which parts to merge: part → units to leave out, for each resulting part."""
    groups: list[dict[str, list[str]]] = []
    group: dict[str, list[str]] = {}
    number = 0
    for part, size in sizes.items():
        if size >= FULL // 2 and part not in stale:
            continue
        if number + size > FULL and group:
            groups.append(group)
            group, number = {}, 0
        group[part] = sorted(stale.get(part, ()))
        number += size
    groups.append(group)
    return [each for each in groups if len(each) > 1 or any(each.values())]


def totals(folder: Path) -> dict[str, Any]:
    """Totals over the table of checkpoints, from which the next scan computes growth."""
    from pyarrow import parquet

    sums = {"checkpoints": 0, "on_disk": 0, "logical": 0, "broken": 0, "unreadable": 0}
    families: dict[str, list[int]] = {}
    for part in storage.parts(folder):
        with parquet.ParquetFile(storage.part_file(folder, "checkpoints", part)) as file:
            for batch in file.iter_batches(storage.PIECE, columns=["family", "on_disk", "logical", "errors", "error"]):
                for row in batch.to_pylist():
                    size = row["on_disk"] or 0
                    sums["checkpoints"] += 1
                    sums["on_disk"] += size
                    sums["logical"] += row["logical"] or 0
                    sums["broken"] += row["errors"] > 0
                    sums["unreadable"] += row["error"] is not None
                    own = families.setdefault(row["family"] or "", [0, 0])
                    own[0], own[1] = own[0] + 1, own[1] + size
    by_family = {name: {"checkpoints": number, "on_disk": size} for name, (number, size) in sorted(families.items())}
    return {**sums, "families": by_family}
