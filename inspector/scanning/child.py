"""The process in which files are read: one that hangs or dies takes nothing with it but a checkpoint's time.

    python -m inspector.scanning.child FD WATCHED BEGUN [TABLES...]

Messages are JSON over the connection FD; the process ends when WATCHED does, whatever it is waiting for. When each unit
began is written to BEGUN, which nobody reads but where the answer is late. TABLES are folders of the user's own tables.
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
from inspector.scanning.storage import Writer, unwritten
from inspector.scanning.unit import Unit
from inspector.sources import pace

#: Rows that are kept before they are written: some 10 MB.
MOST_ROWS = 20_000
#: Times that a unit is tried whose server fails, and the seconds before the second; they double.
TRIES, FIRST_WAIT = 4, 0.5
#: Units between two collections of garbage: most of what is made has no cycles.
BETWEEN_COLLECTIONS = 32
#: What BEGUN has of each unit after a batch's first, and at last of the writing: seconds of the machine's clock.
BEGAN = struct.Struct("d")


class _Asking:
    """The pace of the scan: whoever started this process knows it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = Lock()  # files are read in several threads, and an answer is for who asked

    def before(self, server: str) -> None:
        sleep(self._ask({"before": server}))

    def refused(self, server: str, seconds: float) -> None:
        self._ask({"refused": server, "seconds": seconds})

    def _ask(self, message: Mapping[str, Any]) -> float:
        with self._lock:
            send(self._connection, message)
            return float(receive(self._connection)["wait"])


class _WithoutPandas:
    """As if pandas were not installed: pyarrow imports it to ask whether a list is one of its, which costs 50 MB."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def send(connection: Connection, message: Mapping[str, Any]) -> None:
    """One message."""
    connection.send_bytes(json.dumps(message, separators=(",", ":")).encode())


def receive(connection: Connection) -> dict[str, Any]:
    """The next message. Raises EOFError where the other side is gone."""
    found: dict[str, Any] = json.loads(connection.recv_bytes())
    return found


def main(arguments: Sequence[str]) -> None:
    """Inspect one batch after the other, until nobody asks any more."""
    connection, watched, begun = Connection(int(arguments[0])), int(arguments[1]), int(arguments[2])
    Thread(target=_leave_with, args=(watched,), daemon=True).start()
    pace.share(_Asking(connection))
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
    os.read(watched, 1)  # nothing is ever written there: it ends when its owner does
    os._exit(1)


def _answer(order: Mapping[str, Any], begun: int, tables: Sequence[str]) -> dict[str, Any]:
    try:
        _know(tuple(tables))
        return _inspected(order, begun)
    except InspectorError as error:  # the tables are not there, or are none
        return {"failed": str(error)}
    except OSError as error:  # the rows cannot be written
        return {"failed": unwritten(error)}


@cache
def _know(folders: tuple[str, ...]) -> None:
    """Add the user's own tables, the first of which come before the others."""
    for folder in reversed(folders):
        add_tables(folder)


def _inspected(order: Mapping[str, Any], begun: int) -> dict[str, Any]:
    """Each unit's rows, written; what they came to."""
    rows = Rows(order["scan"], order["before"])
    writer = Writer(Path(order["work"]), order["part"])
    try:
        for number, values in enumerate(order["units"]):
            unit, refused = Unit.unpacked(values), order["refused"].get(str(number))
            if refused:
                rows.add_failed(unit, unit.target, *refused)
            else:
                _try(unit, rows)
            os.write(begun, BEGAN.pack(monotonic()))  # the next
            if len(rows) > MOST_ROWS:
                writer.write(rows.taken())
            if number % BETWEEN_COLLECTIONS == 0:
                gc.collect(1)
        writer.write(rows.taken())
        writer.close()
    except BaseException:
        writer.abandon()
        raise
    return {"finished": writer.rows, **rows.sums}


def _try(unit: Unit, rows: Rows) -> None:
    """Inspect a unit, again while its server fails; at last that is its row."""
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


if __name__ == "__main__":
    main(sys.argv[1:])
