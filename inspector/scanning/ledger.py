"""What is to be done, and what was done before: on disk, because neither fits into memory.

The committed parts are the record; the ledger is rebuilt from them at the start of each run, and then discarded.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from inspector.scanning import storage
from inspector.scanning.schema import PASSING
from inspector.scanning.unit import Unit, short_digest, storable

_TABLES = """
CREATE TABLE known (unit TEXT, part TEXT, stamp TEXT, passing INT, root TEXT, scan INT, PRIMARY KEY (unit, part))
    WITHOUT ROWID;
CREATE TABLE before (checkpoint TEXT PRIMARY KEY, unit TEXT, first_scan INT, bytes INT) WITHOUT ROWID;
CREATE INDEX of_unit ON before (unit);
CREATE TABLE seen (unit TEXT PRIMARY KEY, keep TEXT) WITHOUT ROWID;
CREATE TABLE todo (number INTEGER PRIMARY KEY, unit TEXT);
CREATE TABLE failed (place TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE roots (root TEXT PRIMARY KEY) WITHOUT ROWID;
"""
#: Known units that were searched for and not found. Units in a place that is currently unreadable are not gone.
_GONE = """
    (seen.unit IS NULL AND known.root IN (SELECT root FROM roots) AND NOT EXISTS
        (SELECT 1 FROM failed WHERE known.unit = place OR substr(known.unit, 1, length(place) + 1) = place || '/'))"""
#: The size of late batches; the first are smaller, so that each worker of a short scan gets one.
SMALLEST, LARGEST = 8, 128


class Batch(NamedTuple):
    """Units that one task inspects and that become one part."""

    part: str
    units: tuple[Unit, ...]
    before: dict[str, list[int | None]]  # checkpoint → the scan that first saw it, and its bytes then


class Ledger:
    """Safe to use from two threads: one adds discovered units, the other takes batches."""

    def __init__(self, path: Path, run: str, scan: int, roots: Sequence[str]) -> None:
        """
        Args:
            roots: the roots being searched: units of other roots are not considered gone.
            run: distinguishes this run's parts from others.
            scan: the number of the scan, which several runs may do.
        """
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.executescript(_TABLES)
        self._db.executemany("INSERT OR IGNORE INTO roots VALUES (?)", [(storable(root),) for root in roots])
        self._lock, self._run, self._scan = Lock(), run, scan
        self._taken = 0
        self.kept = 0  # unchanged units
        self.todo = 0  # units to inspect
        self.changed = 0  # of these, those that existed before

    def close(self) -> None:
        self._db.close()

    def remember(self, folder: Path) -> None:
        """Record the committed parts."""
        from pyarrow import parquet

        columns = ["unit", "stamp", "error_kind", "root", "scan", "checkpoint", "first_scan", "on_disk", "bytes_before"]
        for part in storage.parts(folder):
            with parquet.ParquetFile(storage.part_file(folder, "checkpoints", part)) as file:
                for batch in file.iter_batches(storage.PIECE, columns=columns):
                    self._remember(part, zip(*(batch[name].to_pylist() for name in columns), strict=True))

    def _remember(self, part: str, rows: Iterable[Sequence[Any]]) -> None:
        known, before = [], []
        for unit, stamp, error, root, scan, checkpoint, first, size, earlier in rows:
            known.append((unit, part, stamp, error in PASSING, root, scan))
            before.append((checkpoint, unit, first, size if scan < self._scan else earlier))
        with self._lock:
            self._db.execute("BEGIN")
            self._db.executemany(
                "INSERT INTO known VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET passing = max(passing, excluded.passing)",
                known,
            )
            self._db.executemany("INSERT OR REPLACE INTO before VALUES (?, ?, ?, ?)", before)
            self._db.execute("COMMIT")

    def add(self, units: Sequence[Unit]) -> None:
        """Add discovered units: unchanged ones are kept, the others are to be done. Each counts once."""
        with self._lock:
            self._db.execute("BEGIN")
            for unit in units:
                self._add(unit)
            self._db.execute("COMMIT")

    def _add(self, unit: Unit) -> None:
        if unit.error is not None:
            self._db.execute("INSERT OR IGNORE INTO failed VALUES (?)", (unit.name,))
        if not self._db.execute("INSERT OR IGNORE INTO seen VALUES (?, NULL)", (unit.name,)).rowcount:
            return
        known = self._db.execute("SELECT part, stamp, passing FROM known WHERE unit = ?", (unit.name,)).fetchall()
        same = next((part for part, stamp, passing in known if stamp == unit.stamp and stamp and not passing), None)
        if same:
            self._db.execute("UPDATE seen SET keep = ? WHERE unit = ?", (same, unit.name))
            self.kept += 1
            return
        self.todo += 1
        self.changed += bool(known)
        text = json.dumps(unit.packed(), separators=(",", ":"))
        self._db.execute("INSERT INTO todo (unit) VALUES (?)", (text,))

    def next_batch(self, *, all_found: bool) -> Batch | None:
        """The next units to be done; None if there are too few for a batch yet, or no more."""
        size = min(LARGEST, max(SMALLEST, self._taken // 8))
        with self._lock:
            rows = self._db.execute("SELECT number, unit FROM todo ORDER BY number LIMIT ?", (size,)).fetchall()
            if not rows or (len(rows) < size and not all_found):
                return None
            self._db.execute("DELETE FROM todo WHERE number <= ?", (rows[-1][0],))
            units = tuple(Unit.unpacked(json.loads(text)) for _, text in rows)
            before = {name: value for unit in units for name, value in self._before(unit)}
        self._taken += len(units)
        part = short_digest(self._run, *(f"{unit.target}\0{unit.stamp}" for unit in units))
        return Batch(part, units, before)

    def _before(self, unit: Unit) -> Iterator[tuple[str, list[int | None]]]:
        query = "SELECT checkpoint, first_scan, bytes FROM before WHERE unit = ?"
        for checkpoint, first, size in self._db.execute(query, (unit.name,)):
            yield checkpoint, [first, size]

    def stale(self) -> dict[str, set[str]]:
        """Part → its units that have changed or no longer exist."""
        query = f"""
            SELECT part, unit FROM known LEFT JOIN seen USING (unit)
            WHERE (seen.unit IS NOT NULL AND seen.keep IS NOT known.part) OR {_GONE}"""  # noqa: S608  our own text
        found: dict[str, set[str]] = {}
        with self._lock:
            for part, unit in self._db.execute(query):
                found.setdefault(part, set()).add(unit)
        return found

    def vanished(self) -> tuple[int, int]:
        """Checkpoints that no longer exist, and their bytes."""
        query = f"""
            SELECT count(*), coalesce(sum(bytes), 0) FROM before WHERE unit IN
                (SELECT unit FROM known LEFT JOIN seen USING (unit) WHERE {_GONE})"""  # noqa: S608  our own text
        with self._lock:
            count, size = self._db.execute(query).fetchone()
        return count, size
