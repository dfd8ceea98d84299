"""Writes an output file completely or not at all, and never over a file of another kind, least of all a weight file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from inspector.errors import SourceError, UsageError
from inspector.sources.filenames import WEIGHTS
from inspector.tabular import NamedTuple
from inspector.units import escape


class Output(NamedTuple):
    """A kind of output file, and its first bytes in lower case, without white space."""

    what: str
    beginnings: tuple[bytes, ...]


PAGE = Output("HTML page", (b"<!doctypehtml", b"<html"))
PARQUET = Output("Parquet file", (b"par1",))


def check(path: str, kind: Output) -> None:
    """Check, before any work is done, that this file may be written.

    Raises:
        UsageError: it is a folder, a device, or a file of another kind.
        SourceError: its folder does not exist, or the file cannot be examined.
    """
    name = escape(path)
    if path in ("", "-"):
        raise UsageError(f"the {kind.what} needs the name of a file, not {name or 'an empty one'}")
    if path.lower().endswith(WEIGHTS):
        raise UsageError(f"{name} is the name of a weight file: choose another for the {kind.what}")
    try:
        if not Path(path).parent.is_dir():
            raise SourceError(f"{name}: no such folder")
        if os.path.lexists(path):
            _check_present(Path(path), kind)
    except OSError as error:
        raise SourceError(f"{name}: {error.strerror or error}") from error


def _check_present(path: Path, kind: Output) -> None:
    name = escape(str(path))
    mode = path.stat().st_mode  # a dangling link raises
    if not stat.S_ISREG(mode):
        raise UsageError(f"{name} is a {'folder' if stat.S_ISDIR(mode) else 'device'}: name a file")
    with path.open("rb") as file:
        first = b"".join(file.read(64).split()).lower()
    if first and not first.startswith(kind.beginnings):
        raise UsageError(f"{name} exists and is not a {kind.what}: not overwritten")


def save(path: str, kind: Output, write: Callable[[Path], object]) -> None:
    """Write a file next to its destination, and move it there when complete. Raises as `check` does.

    Args:
        write: writes to the given path.
    """
    check(path, kind)
    place = Path(path).resolve()  # a link is kept
    from tempfile import mkstemp  # 5 ms

    try:
        handle, name = mkstemp(prefix=f".{place.name[:100]}.", dir=place.parent)
        os.close(handle)
        try:
            write(Path(name))
            Path(name).chmod(_mode(place))
            Path(name).replace(place)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise SourceError(f"{escape(path)}: {error.strerror or error}") from error


def _mode(place: Path) -> int:
    """Permissions: those of the replaced file, or the default for new files."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
