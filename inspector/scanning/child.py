"""The process in which files are read: if it hangs or dies, only the time for one checkpoint is lost.

    python -m inspector.scanning.child FD WATCHED BEGUN [TABLES...]

Messages are JSON over the connection FD; the process ends when WATCHED closes, whatever it is waiting for. The start of
each unit is written to BEGUN, which is read only if the answer is late. TABLES are folders of the user's own tables.
"""

from __future__ import annotations

import gc
import json
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

from inspector.architectures import add_tables
from inspector.errors import InspectorError, NetworkError
from inspector.scanning.inspection import inspect
from inspector.scanning.rows import Rows
from inspector.scanning.storage import unwritten, writing
from inspector.scanning.unit import Unit
from inspector.sources import workers

#: Rows that are buffered before writing: some 10 MB.
MOST_ROWS = 20_000
#: Attempts at a unit whose server fails, and the seconds before the second; they double.
TRIES, FIRST_WAIT = 4, 0.5
#: Units between two garbage collections: most objects have no cycles.
BETWEEN_COLLECTIONS = 32
#: A record in BEGUN: seconds of the machine's clock. One for each unit after a batch's first, and one for writing.
BEGAN = struct.Struct("d")


class _Asking:
    """The scan's pace, which the parent process keeps: each question is sent to it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = Lock()  # files are read in several threads, and an answer belongs to the thread that asked

    def before(self, server: str) -> None:
        sleep(self._ask({"before": server}))

    def refused(self, server: str, seconds: float) -> None:
        self._ask({"refused": server, "seconds": seconds})

    def _ask(self, message: Mapping[str, Any]) -> float:
        with self._lock:
            send(self._connection, message)
            return float(receive(self._connection)["wait"])


class _WithoutPandas:
    """Hides pandas: pyarrow imports it to check whether a list is one of its objects, which costs 50 MB."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def send(connection: Connection, message: Mapping[str, Any]) -> None:
    """Send one message."""
    connection.send_bytes(json.dumps(message, separators=(",", ":")).encode())


def receive(connection: Connection) -> dict[str, Any]:
    """The next message. Raises EOFError if the other side is gone."""
    found: dict[str, Any] = json.loads(connection.recv_bytes())
    return found


def main(arguments: Sequence[str]) -> None:
    """Inspect one batch after another, until the parent sends no more."""
    connection, watched, begun = Connection(int(arguments[0])), int(arguments[1]), int(arguments[2])
    Thread(target=_leave_with, args=(watched,), daemon=True).start()
    workers.share_pace(_Asking(connection))
    sys.meta_path.insert(0, _WithoutPandas())
    gc.disable()
    gc.freeze()
    while True:
        try:
            order = receive(connection)
        except EOFError:
            return
        send(connection, _answer(order, begun, arguments[3:]))


def _leave_with(watched: int) -> None:
    os.read(watched, 1)  # nothing is ever written there: it closes when its owner ends
    os._exit(1)


def _answer(order: Mapping[str, Any], begun: int, tables: Sequence[str]) -> dict[str, Any]:
    try:
        _know(tuple(tables))
        return _inspected(order, begun)
    except InspectorError as error:  # the tables are missing or invalid
        return {"failed": str(error)}
    except OSError as error:  # the rows cannot be written
        return {"failed": unwritten(error)}


@cache
def _know(folders: tuple[str, ...]) -> None:
    """Add the user's own tables; earlier folders take precedence."""
    for folder in reversed(folders):
        add_tables(folder)


def _inspected(order: Mapping[str, Any], begun: int) -> dict[str, Any]:
    """Write each unit's rows; return their totals."""
    rows = Rows(order["scan"], order["before"])
    with writing(Path(order["work"]), order["part"]) as writer:
        for number, values in enumerate(order["units"]):
            unit, refused = Unit.unpacked(values), order["refused"].get(str(number))
            if refused:
                rows.add_failed(unit, unit.target, *refused)
            else:
                _try(unit, rows)
            os.write(begun, BEGAN.pack(monotonic()))  # the next unit begins
            if len(rows) > MOST_ROWS:
                writer.write(rows.take())
            if number % BETWEEN_COLLECTIONS == 0:
                gc.collect(1)
        writer.write(rows.take())
    return {"finished": writer.rows, **rows.sums}


def _try(unit: Unit, rows: Rows) -> None:
    """Inspect a unit, retrying while its server fails; in the end the failure is its row."""
    wait = FIRST_WAIT
    for left in reversed(range(TRIES)):
        try:
            inspect(unit, rows)
        except NetworkError as error:
            if not left:
                rows.add_failed(unit, unit.target, "NetworkError", str(error))
            else:
                sleep(wait)
                wait *= 2
        else:
            return
