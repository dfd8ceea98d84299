"""A folder in which models appear: each is audited when complete, and again when it changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

from inspector.auditing.examination import Audited, examined
from inspector.auditing.subject import Subject
from inspector.auditing.targets import Failed
from inspector.errors import InspectorError, TargetError, UsageError, install_command
from inspector.scanning.discovery import discover
from inspector.scanning.inspection import subjects
from inspector.scanning.process import on_interrupt
from inspector.scanning.unit import Unit
from inspector.units import escape, plural

#: Milliseconds for which a model must be unchanged before it is audited.
STILL = 1000
#: Suffixes of unfinished files.
UNFINISHED = (".incomplete", ".part", ".partial", ".crdownload", ".download", ".aria2", ".tmp", ".lock")


def watch(folders: Sequence[Path], ready: Callable[[str], object] = lambda _: None) -> Iterator[Audited | Failed]:
    """Audit each model that appears or changes in the folders, until Ctrl-C.

    Models that exist at the start are not audited. A model is complete when none of its files has changed for a second,
    and none has the name of an unfinished download.

    Args:
        ready: called once changes are being noticed.

    Raises:
        UsageError: watchfiles is not installed.
        TargetError: one of the folders is not a folder.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise UsageError(f"--watch needs watchfiles: `{install_command('scan')}`") from error
    logging.getLogger("watchfiles").setLevel(logging.CRITICAL)  # some releases log Ctrl-C
    for folder in folders:
        if not folder.is_dir():
            raise TargetError(f"{escape(str(folder))} is not a folder to watch")
    roots = [str(folder) for folder in folders]
    known = {unit.target: unit.stamp for unit in discover(roots)}
    ready(f"watching {plural(len(roots), 'folder')} with {plural(len(known), 'model')}; Ctrl-C ends it")
    before: dict[str, str | None] = {}  # the changed models, as of a moment ago
    stop, looked = Event(), False
    with on_interrupt(lambda *_: stop.set()):
        for seen in changes(*folders, rust_timeout=STILL, yield_on_timeout=True, stop_event=stop):
            if not seen and not before and looked:
                continue
            looked = True  # the first pass finds what appeared before changes were noticed
            now = {unit.target: unit for unit in discover(roots)}
            changed = {name: unit for name, unit in now.items() if known.get(name) != unit.stamp}
            for name, unit in changed.items():
                if before.get(name) == unit.stamp and not _unfinished(unit):
                    known[name] = unit.stamp
                    yield from _audited(unit)
            known = {name: stamp for name, stamp in known.items() if name in now}
            before = {name: unit.stamp for name, unit in changed.items() if known.get(name) != unit.stamp}


def _unfinished(unit: Unit) -> bool:
    """Whether a program is still writing some of it."""
    folder = Path(unit.where)
    names = [path for path, _ in unit.files] or [str(path) for path in folder.rglob("*")] if folder.is_dir() else []
    beside = [path.name for path in folder.iterdir()] if unit.files else []
    stem = Path(unit.target).name
    return any(name.endswith(UNFINISHED) for name in names) or any(
        name.startswith(stem) and name.endswith(UNFINISHED) for name in beside
    )


def _audited(unit: Unit) -> Iterator[Audited | Failed]:
    try:
        for found in subjects(unit):
            yield examined(found, own_process=True) if isinstance(found, Subject) else found
    except InspectorError as error:
        yield Failed(unit.target, error)
