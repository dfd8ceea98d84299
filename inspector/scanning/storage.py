"""The folder that a scan writes: parts of tables, each committed atomically, and a summary.

    DIR/checkpoints/part-ID.parquet    a part: one file per table, with the same name; committed once this one exists
    DIR/{files,tensors,findings}/      the same parts of the other tables
    DIR/scan.json                      the scans, when they ran, their totals
    DIR/.work/RUN/                     what is being written; deleted with the run
    DIR/.lock                          held while a scan runs

A worker writes into `.work` and renames. A worker that was given up finds its folder gone, and cannot commit.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.errors import FormatError, SourceError, TargetError, UsageError
from inspector.scanning.schema import TABLES, VERSION, arrow_schema
from inspector.units import escape

if TYPE_CHECKING:
    import pyarrow as pa

SUMMARY = "scan.json"
#: Rows of a table that are held in memory while parts are merged.
PIECE = 20_000
#: The most bytes of a summary that are read.
MAX_SUMMARY = 64 << 20


def part_file(folder: Path, table: str, part: str) -> Path:
    """The path of a committed part of a table."""
    return folder / table / f"part-{part}.parquet"


def written_file(work: Path, table: str, part: str) -> Path:
    """The path where it is written."""
    return work / f"{table}-{part}.parquet"


def parts(folder: Path) -> list[str]:
    """The committed parts."""
    found = (folder / "checkpoints").glob("part-*.parquet")
    return sorted(path.name.removeprefix("part-").removesuffix(".parquet") for path in found)


def prepare(folder: Path) -> None:
    """Create the tables' folders.

    Raises:
        SourceError: they cannot be created.
    """
    try:
        for table in TABLES:
            (folder / table).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"{escape(str(folder))}: {error.strerror or error}") from error


def commit(folder: Path, work: Path, part: str) -> None:
    """Rename what was written, `checkpoints` last. Raises OSError if the run has ended in the meantime."""
    for table in TABLES:
        written_file(work, table, part).replace(part_file(folder, table, part))


def drop(folder: Path, names: Iterable[str]) -> None:
    """Delete parts, `checkpoints` first: remaining files without it do not count."""
    for part in names:
        for table in reversed([*TABLES]):
            part_file(folder, table, part).unlink(missing_ok=True)


def clean(folder: Path) -> None:
    """Delete what a killed run has left: unfinished files, and parts that it did not commit."""
    shutil.rmtree(folder / ".work", ignore_errors=True)
    committed = set(parts(folder))
    for table in TABLES:
        for path in (folder / table).glob("part-*.parquet"):
            if path.name.removeprefix("part-").removesuffix(".parquet") not in committed:
                path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder for one scan; a killed process releases it.

    Raises:
        UsageError: another scan holds the lock.
    """
    import fcntl

    with (folder / ".lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            who = escape(lock.read(100).strip(), 100) or "another process"
            raise UsageError(
                f"{escape(str(folder))}: another scan is writing to it ({who}): wait for it, or name another folder"
            ) from error
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {os.uname().nodename}\n")
        lock.flush()
        yield


def read_summary(folder: Path) -> dict[str, Any] | None:
    """scan.json; None if no scan has begun.

    Raises:
        FormatError: it is not a scan's summary.
    """
    path = folder / SUMMARY
    try:
        raw = path.read_bytes()[:MAX_SUMMARY]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(f"{escape(str(path))}: {error.strerror or error}") from error
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{escape(str(path))} is not the summary of a scan: not JSON") from error
    if not isinstance(found, dict) or not isinstance(found.get("scans"), list):
        raise FormatError(f"{escape(str(path))} is not the summary of a scan")
    if found.get("tables") != VERSION:
        raise FormatError(
            f"{escape(str(path))}: tables of version {escape(str(found.get('tables')), 20)}, not {VERSION}"
        )
    return found


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Write scan.json atomically."""
    new = folder / f".{SUMMARY}.new"
    new.write_text(json.dumps(summary, indent=1) + "\n")
    new.replace(folder / SUMMARY)


def check(folder: Path) -> dict[str, Any]:
    """scan.json of a folder to be queried. Raises TargetError if there is no scan."""
    summary = read_summary(folder) if folder.is_dir() else None
    if summary is None:
        raise TargetError(f"{escape(str(folder))} is not a scan's folder: `inspect scan ROOT --out DIR` makes one")
    return summary


class Writer:
    """The four files of one part."""

    def __init__(self, work: Path, part: str) -> None:
        from pyarrow import parquet

        self.rows = dict.fromkeys(TABLES, 0)
        self._writers = {
            table: parquet.ParquetWriter(written_file(work, table, part), arrow_schema(table), compression="zstd")
            for table in TABLES
        }

    def write(self, tables: Iterable[tuple[str, pa.Table]]) -> None:
        """Append rows."""
        for name, rows in tables:
            if rows.num_rows:
                self._writers[name].write_table(rows)
                self.rows[name] += rows.num_rows

    def close(self) -> None:
        """Finish the files."""
        for writer in self._writers.values():
            writer.close()


@contextmanager
def writing(work: Path, part: str) -> Iterator[Writer]:
    """The writer of a part, finished at the end; after an error its files are closed unfinished."""
    writer = Writer(work, part)
    try:
        yield writer
        writer.close()
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise


def merge(folder: Path, work: Path, part: str, sources: Mapping[str, Collection[str]]) -> int:
    """Merge parts into a new one and commit it; return its number of checkpoints. The sources stay.

    Args:
        sources: part → units whose rows are omitted.
    """
    with writing(work, part) as writer:
        for source, without in sources.items():
            _copy(folder, source, frozenset(without), writer)
    commit(folder, work, part)
    return writer.rows["checkpoints"]


def _copy(folder: Path, source: str, without: frozenset[str], writer: Writer) -> None:
    import pyarrow as pa
    from pyarrow import compute, parquet

    gone: list[str] = []
    if without:
        listed = parquet.read_table(part_file(folder, "checkpoints", source), columns=["checkpoint", "unit"])
        gone = listed.filter(compute.is_in(listed["unit"], pa.array(sorted(without)))).column("checkpoint").to_pylist()
    for table in TABLES:
        with parquet.ParquetFile(part_file(folder, table, source)) as file:
            for batch in file.iter_batches(PIECE):
                rows = pa.Table.from_batches([batch]).cast(arrow_schema(table))
                if gone:
                    rows = rows.filter(compute.invert(compute.is_in(rows["checkpoint"], pa.array(gone))))
                writer.write([(table, rows)])


def unwritten(error: OSError) -> str:
    """Why the tables could not be written: the system's message, not a library's."""
    return f"the tables cannot be written: {os.strerror(error.errno) if error.errno else error}"
